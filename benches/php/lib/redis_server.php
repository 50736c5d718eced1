<?php
/*
 * A Redis or Valkey of its own, and a connection to it that sends commands as they are.
 */

final class RedisServer
{
    public readonly int $pid;
    private readonly string $folder;
    /** @var resource */
    private $process;
    /** @var resource */
    private $link;

    /** @param string[] $program */
    public function __construct(array $program)
    {
        $this->folder = getenv('BENCH_TABLES') . '/redis-' . bin2hex(random_bytes(4));
        mkdir($this->folder);
        $command = [...$program, '--port', '0', '--unixsocket', $this->socket(), '--save', '', '--appendonly', 'no', '--dir', $this->folder];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', "$this->folder/log", 'w'], ['file', "$this->folder/log", 'a']], $pipes);
        register_shutdown_function($this->stop(...));
        $this->link = $this->connect();
        $this->pid = (int) $this->about('server', 'process_id');
    }

    public function stop(): void
    {
        is_resource($this->process) && proc_terminate($this->process, SIGKILL) && proc_close($this->process);
    }

    public function dsn(): string
    {
        return 'redis+unix://' . $this->socket();
    }

    /** The server's name and version. */
    public function version(): string
    {
        $name = $this->about('server', 'server_name') ?? 'redis';
        return ucfirst($name) . ' ' . $this->about('server', "{$name}_version");
    }

    /** Whether the server knows this command and its arguments. */
    public function knows(string ...$command): bool
    {
        try {
            return $this->ask(...$command) !== '';
        } catch (RuntimeException) {
            return false;
        }
    }

    /** The reply to a command: text, or the first line of another reply. */
    public function ask(string ...$command): string
    {
        fwrite($this->link, self::encode($command));
        $line = rtrim((string) fgets($this->link), "\r\n");
        if ($line[0] === '-') {
            throw new RuntimeException("$command[0]: $line");
        }
        if ($line[0] !== '$') {
            return substr($line, 1);
        }
        return substr((string) stream_get_contents($this->link, (int) substr($line, 1) + 2), 0, -2);
    }

    /** Sends commands so many times, some in a row, and waits for all replies. */
    public function repeat(array $commands, int $times, int $in_a_row): void
    {
        $batch = str_repeat(implode('', array_map(self::encode(...), $commands)), $in_a_row) . self::encode(['ECHO', 'all replied']);
        for ($sent = 0; $sent < $times; $sent += $in_a_row) {
            fwrite($this->link, $batch);
            $replies = (string) fread($this->link, 65536);
            if ($replies[0] === '-') {
                throw new RuntimeException("{$commands[0][0]}: " . strtok($replies, "\r"));
            }
            while (!str_ends_with($replies, "\r\nall replied\r\n")) {
                $replies = substr($replies, -20) . fread($this->link, 65536);
            }
        }
    }

    /** The first command of this name that the server receives during $work. */
    public function monitored(string $name, Closure $work): array
    {
        $monitor = $this->connect();
        fwrite($monitor, self::encode(['MONITOR']));
        fgets($monitor);
        $work();
        do {
            preg_match_all('/"([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+)"/', (string) fgets($monitor), $found);
        } while (($found[1][0] ?? '') !== $name);
        return array_map(stripcslashes(...), $found[1]);
    }

    private function socket(): string
    {
        return "$this->folder/socket";
    }

    /** @return resource */
    private function connect()
    {
        for ($tries = 0; !file_exists($this->socket()) && $tries < 100; $tries++) {
            usleep(50_000);
        }
        return stream_socket_client('unix://' . $this->socket());
    }

    private function about(string $section, string $field): ?string
    {
        return preg_match("/^$field:(.*?)\r?$/m", $this->ask('INFO', $section), $found) ? $found[1] : null;
    }

    private static function encode(array $command): string
    {
        return '*' . count($command) . "\r\n" . implode('', array_map(fn (string $part) => '$' . strlen($part) . "\r\n$part\r\n", $command));
    }
}
