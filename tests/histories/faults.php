<?php
/*
 * A server of its own, and what happens to it.
 */

final class Faults
{
    private readonly MasterAndReplica $pair;
    private readonly Server $server;
    private readonly int $port;
    /** How many keys a round calls: a fail-over takes a second, and more of them see it. */
    public readonly int $keys;
    /** Longest pause between two calls of a process, in microseconds: some of its calls shall come after the fault. */
    public readonly int $pause;

    public function __construct(private readonly string $fault, private readonly string $kind)
    {
        $is_failover = $fault === 'failover';
        [$this->keys, $this->pause] = $is_failover ? [count(LIMITS), 4_000] : [1, 0];
        if ($is_failover) {
            $this->pair = $kind === 'sentinel' ? new WithSentinel() : new InCluster();
            return;
        }
        $this->server = new Server($kind);
        if (str_starts_with($this->server->dsn(), 'mysql')) {
            prepared($this->server->dsn());
        }
        $this->port = $fault === 'cut' ? $this->proxy() : $this->server->port;
    }

    public function dsn(): string
    {
        $dsn = isset($this->pair) ? $this->pair->dsn() : str_replace(":{$this->server->port}", ":$this->port", $this->server->dsn());
        return "$dsn?timeout_ms=1000&connect_timeout_ms=1000";
    }

    /** How many tokens a round may lose by it: a repeated call for four of them may be charged twice; where answers are cut eight times, on memcached in a batch for all processes. */
    public function lost(): int
    {
        return match ($this->fault) {
            'cut' => 8 * 4 * ($this->kind === 'redis' ? 1 : PROCESSES),
            'restart' => 4 * PROCESSES,
            default => 0,
        };
    }

    /** Lets it happen once, in a round on these keys. Returns lines for the history. */
    public function happen(array $keys): string
    {
        $begin = now();
        if ($this->fault === 'failover') {
            [$op, $begin, $end] = $this->pair->fail_over() ?: ['', 0, 0];
            return $op === '' ? '' : self::lines($keys, "$begin $op", "end %s $end yes");
        }
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
        return str_starts_with($this->server->dsn(), 'mysql') ? '' : self::lines($keys, "$begin reset", 'died %s ' . now());
    }

    /** What the server did to each key, with the line that ends it. */
    private static function lines(array $keys, string $begin, string $end): string
    {
        $lines = fn (string $key): string => "begin $key.server $key $begin\n" . sprintf($end, "$key.server") . "\n";
        return implode('', array_map($lines, $keys));
    }

    /** Passes calls on. One of twenty answers comes late, one of a hundred does not come. */
    private function proxy(): int
    {
        return proxy($this->server->port, function (string $bytes, bool $is_answer): ?string {
            if ($is_answer && mt_rand(1, 100) === 1) {
                return null;
            }
            $is_answer && mt_rand(1, 20) === 1 && usleep(mt_rand(0, 10_000));
            return $bytes;
        });
    }
}
