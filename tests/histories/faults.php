<?php
/*
 * A server of its own, and what happens to it.
 */

final class Faults
{
    private readonly Server $server;
    private readonly int $port;

    public function __construct(private readonly string $fault, private readonly string $kind)
    {
        $this->server = new Server($kind);
        if (str_starts_with($this->server->dsn(), 'mysql')) {
            prepared($this->server->dsn());
        }
        $this->port = $fault === 'cut' ? $this->proxy() : $this->server->port;
    }

    public function dsn(): string
    {
        $dsn = str_replace(":{$this->server->port}", ":$this->port", $this->server->dsn());
        return "$dsn?timeout_ms=1000&connect_timeout_ms=1000";
    }

    /** How many tokens a round may lose by it: a call for four of them that is repeated may be charged twice, in a batch for all processes. */
    public function lost(): int
    {
        return $this->fault === 'cut' ? 8 * 4 * ($this->kind === 'redis' ? 1 : PROCESSES) : 0;
    }

    /** Lets it happen once. Returns lines for the history. */
    public function happen(string $key, string $process): string
    {
        $begin = now();
        if ($this->fault === 'stop') {
            $this->server->signal(SIGSTOP);
            usleep(mt_rand(0, 20_000));
            $this->server->signal(SIGCONT);
        }
        if ($this->fault !== 'restart') {
            return '';
        }
        $this->server->kill();
        $this->server->start();
        // Redis and memcached begin anew; a database has kept what was written.
        return str_starts_with($this->server->dsn(), 'mysql') ? '' : "begin $process $key $begin reset\ndied $process " . now() . "\n";
    }

    /** Passes calls on. One of twenty answers comes late, one of a hundred does not come. */
    private function proxy(): int
    {
        return strange_server(function ($client): void {
            if (pcntl_fork() > 0) {
                fclose($client);
                return;
            }
            $server = stream_socket_client("tcp://127.0.0.1:{$this->server->port}");
            stream_set_blocking($client, true);
            stream_set_read_buffer($client, 0);
            stream_set_read_buffer($server, 0);
            mt_srand(getmypid());
            while (true) {
                $ready = [$client, $server];
                $none = null;
                if (!stream_select($ready, $none, $none, 60)) {
                    break;
                }
                foreach ($ready as $from) {
                    $text = fread($from, 65_536);
                    if ($text === '' || $text === false || $from === $server && mt_rand(1, 100) === 1) {
                        break 2;
                    }
                    if ($from === $server && mt_rand(1, 20) === 1) {
                        usleep(mt_rand(0, 10_000));
                    }
                    fwrite($from === $server ? $client : $server, $text);
                }
            }
            posix_kill(getmypid(), SIGKILL);
        });
    }
}
