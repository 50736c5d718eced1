<?php
/*
 * Masters whose replica takes over.
 */

/** A Redis with a replica. */
abstract class MasterAndReplica
{
    /**
     * Nanoseconds before its death within which a master may have answered what its replica does not have. It sends the replica
     * what it did in the same turn of its loop in which it answers, so it must die within the turn: one of a busy machine.
     */
    private const TURN = 5_000_000;
    /** Longest time without a replica, in microseconds. */
    private const LAG = 20_000;

    protected Server $master;
    protected Server $replica;

    abstract public function dsn(): string;

    /** Lets the master end its work in order: it answers nothing that the replica does not have. Returns the same. */
    abstract protected function leave(): array;

    /** Makes the replica of a dead master the master, and waits until clients are told. */
    abstract protected function take_over(): void;

    /** Makes what was the master a replica. */
    abstract protected function rejoin(): void;

    /**
     * Lets the replica take over: after the master has left in order, or has been killed. Returns the operation for the history,
     * and when it began and ended; nothing where nothing may be forgotten.
     */
    public function fail_over(): array
    {
        if (!mt_rand(0, 2)) {
            return $this->leave();
        }
        $complete = null;
        if (mt_rand(0, 1)) {
            // The replica is slow, and has nothing of what its master answers from now on.
            $this->replica->signal(SIGSTOP);
            $complete = now();
            $this->master->ask('CLIENT KILL TYPE replica');
            usleep(mt_rand(0, self::LAG));
        }
        $begin = now();
        $this->master->kill();
        $this->replica->signal(SIGCONT);
        $end = $this->replace_master();
        return ['failover ' . $begin - ($complete ?? $begin) + self::TURN, $begin, $end];
    }

    /** Lets the replica of a dead master take over, and makes that its replica. Returns the time before which it decided nothing. */
    protected function replace_master(): int
    {
        // It is not noticed at once: calls fail.
        usleep(50_000);
        $time = now();
        $this->take_over();
        $this->replica->start();
        $this->rejoin();
        return $time;
    }

    protected function swap(): void
    {
        [$this->master, $this->replica] = [$this->replica, $this->master];
    }

    /** A replica that has its master's data may get nothing new for a second yet, though both offsets are equal. */
    protected function wait_until_replicated(): void
    {
        wait_until(fn (): bool => str_contains($this->replica->ask('INFO replication'), 'master_link_status:up'));
        $this->master->ask('SET replicated yes');
        $sent = self::offset($this->master, 'master');
        wait_until(fn (): bool => self::offset($this->replica, 'slave') >= $sent);
    }

    private static function offset(Server $server, string $role): int
    {
        return preg_match("/^role:$role\r.*^{$role}_repl_offset:(\d+)/ms", $server->ask('INFO replication'), $found) ? (int) $found[1] : -1;
    }

    /** Whether a server says that it is the master. */
    protected static function is_master(Server $server): bool
    {
        return str_contains($server->ask('INFO replication'), 'role:master');
    }
}

/** Of a sentinel. */
final class WithSentinel extends MasterAndReplica
{
    private const OPTIONS = ['--repl-diskless-sync-delay', '0'];
    private readonly Server $sentinel;

    public function __construct()
    {
        $this->master = new Server('redis', self::OPTIONS);
        $this->replica = new Server('redis', self::OPTIONS);
        $this->rejoin();
        // It does not decide by itself that a server is down: a busy machine would surprise it.
        file_put_contents($config = "{$this->master->folder}/sentinel.conf", "sentinel monitor main 127.0.0.1 {$this->master->port} 1\nsentinel down-after-milliseconds main 60000\n");
        $this->sentinel = new Server('sentinel', [$config]);
        // It notices a change of roles within a tenth of a second.
        $this->sentinel->ask('SENTINEL DEBUG info-period 100 ping-period 100 publish-period 100');
    }

    public function dsn(): string
    {
        return "redis+sentinel://127.0.0.1:{$this->sentinel->port}/main";
    }

    /** A Redis 7 that is shut down waits for its replica. While both live after `SENTINEL FAILOVER` both decide for eleven seconds. */
    protected function leave(): array
    {
        $begin = now();
        $this->master->signal(SIGTERM);
        wait_until(fn (): bool => $this->master->ask('PING') === '');
        $this->master->kill();
        return ['failover 0', $begin, $this->replace_master()];
    }

    protected function take_over(): void
    {
        // It refuses until it knows enough of the replica, and while it does so already.
        wait_until(function (): bool {
            $this->sentinel->ask('SENTINEL FAILOVER main');
            return str_contains($this->sentinel->ask('SENTINEL GET-MASTER-ADDR-BY-NAME main'), "\r\n{$this->replica->port}\r\n");
        });
        $this->swap();
    }

    protected function rejoin(): void
    {
        $this->replica->ask("REPLICAOF 127.0.0.1 {$this->master->port}");
        $this->wait_until_replicated();
    }
}

/** Of a cluster, in which it has all slots but two. */
final class InCluster extends MasterAndReplica
{
    /** @var list<Server> The masters that vote. */
    private readonly array $others;

    public function __construct()
    {
        [$this->master, $this->replica] = [self::node(), self::node()];
        $this->others = [self::node(), self::node()];
        $this->master->ask('CLUSTER ADDSLOTSRANGE 2 16383');
        foreach ($this->others as $slot => $node) {
            $node->ask("CLUSTER ADDSLOTS $slot");
        }
        foreach ([$this->replica, ...$this->others] as $node) {
            $bus = preg_match('/@(\d+)/', $node->ask('CLUSTER NODES'), $found) ? $found[1] : '';
            $this->master->ask("CLUSTER MEET 127.0.0.1 $node->port $bus");
        }
        foreach ([$this->master, $this->replica, ...$this->others] as $node) {
            wait_until(fn (): bool => preg_match_all('/ connected/', $node->ask('CLUSTER NODES')) === 4 && self::is_up($node));
        }
        preg_match('/[0-9a-f]{40}/', $this->master->ask('CLUSTER MYID'), $id);
        wait_until(fn (): bool => str_contains($this->replica->ask("CLUSTER REPLICATE $id[0]"), '+OK') && !self::is_master($this->replica));
        $this->wait_until_replicated();
    }

    public function dsn(): string
    {
        return "redis+cluster://127.0.0.1:{$this->others[0]->port},127.0.0.1:{$this->others[1]->port}";
    }

    /** The roles are exchanged while both live. */
    protected function leave(): array
    {
        $this->let_take_over('CLUSTER FAILOVER');
        $this->rejoin();
        // Redis 7.0.15 counts the votes of a node's last election again for four seconds: a node that has just been master starts anew.
        $this->replica->kill();
        $this->replica->start();
        $this->rejoin();
        // A caller does not notice it.
        return [];
    }

    protected function take_over(): void
    {
        $this->let_take_over('CLUSTER FAILOVER FORCE');
    }

    /** Asks until the others have voted for the replica. It gives up after five seconds, and begins anew if it is asked meanwhile. */
    private function let_take_over(string $command): void
    {
        wait_until(function () use ($command): bool {
            $this->replica->ask($command);
            return comes_true(fn (): bool => self::is_master($this->replica) && self::is_up($this->replica) && $this->is_known(), 6);
        });
        $this->swap();
    }

    protected function rejoin(): void
    {
        // It learns of the others that it is one.
        wait_until(fn (): bool => !self::is_master($this->replica));
        $this->wait_until_replicated();
    }

    /** Whether the others know that the replica is the master: one that comes back before may take its slots back. */
    private function is_known(): bool
    {
        $line = "/:{$this->replica->port}@\\S+ \\S*master\\S* .* 2-16383/";
        return count(preg_grep($line, array_map(fn (Server $node): string => $node->ask('CLUSTER NODES'), $this->others))) === count($this->others);
    }

    private static function is_up(Server $node): bool
    {
        return str_contains($node->ask('CLUSTER INFO'), 'cluster_state:ok');
    }

    private static function node(): Server
    {
        return new Server('redis', [
            '--cluster-enabled', 'yes', '--cluster-node-timeout', '500', '--cluster-port', (string) free_port(), '--repl-diskless-sync-delay', '0',
            '--cluster-require-full-coverage', 'no', '--cluster-replica-no-failover', 'yes',
        ]);
    }
}
