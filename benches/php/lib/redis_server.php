<?php
/*
 * A Redis or Valkey of its own, on a unix socket.
 */
require_once dirname(__DIR__, 3) . '/php-tests/server.inc';

final class RedisServer
{
    public readonly Redis $link;
    private readonly Server $server;

    /** @param string[] $program */
    public function __construct(array $program)
    {
        $this->server = new Server('redis+unix', program: $program);
        $this->link = phpredis($this->dsn());
    }

    public function stop(): void
    {
        $this->server->kill();
    }

    public function dsn(): string
    {
        return $this->server->dsn();
    }

    public function pid(): int
    {
        return $this->link->info('server')['process_id'];
    }

    /** The server's name and version. */
    public function version(): string
    {
        $about = $this->link->info('server');
        $name = $about['server_name'] ?? 'redis';
        return ucfirst($name) . ' ' . $about["{$name}_version"];
    }

    /** Sends commands so many times, some in a row. An error ends the benchmark: it costs less than what is measured. */
    public function repeat(array $commands, int $times, int $in_a_row): void
    {
        for ($sent = 0; $sent < $times; $sent += $in_a_row) {
            $pipeline = $this->link->pipeline();
            for ($i = 0; $i < $in_a_row; $i++) {
                foreach ($commands as $command) {
                    $pipeline->rawCommand(...$command);
                }
            }
            if (in_array(false, $pipeline->exec(), true)) {
                throw new RuntimeException("{$commands[0][0]}: " . $this->link->getLastError());
            }
        }
    }

    /** The first command of this name that the server receives during $work. */
    public function monitored(string $name, Closure $work): array
    {
        $monitor = stream_socket_client("unix://{$this->server->folder}/socket");
        fwrite($monitor, "MONITOR\r\n");
        fgets($monitor);
        $work();
        do {
            preg_match_all('/"([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+)"/', (string) fgets($monitor), $found);
        } while (($found[1][0] ?? '') !== $name);
        return array_map(stripcslashes(...), $found[1]);
    }
}
