<?php
/*
 * Every store, on servers that the soak starts, stops and kills.
 */

/** A server that may fail. */
class Node
{
    /** How it fails, and the shortest and the longest time for that, ms. */
    public const FAULTS = ['stop' => [1_000, 2_500], 'kill' => [1_000, 2_500]];

    /** Connections that memcached counts beside the workers': its listener and the one that asks. */
    private int $own = 0;

    public function __construct(
        public readonly string $name,
        public readonly Server $server,
        /** Whether it loses its buckets when it is killed. */
        public readonly bool $forgets,
        /** Whether it serves again after a start. */
        private readonly ?Closure $serves = null,
    ) {
    }

    public function begin(string $fault): void
    {
        $fault === 'kill' ? $this->server->kill() : $this->server->signal(SIGSTOP);
    }

    public function end(string $fault): void
    {
        $fault === 'kill' ? $this->restart() : $this->server->signal(SIGCONT);
    }

    private function restart(): void
    {
        $this->server->start();
        if ($this->serves) {
            wait_until($this->serves);
        }
    }

    /** The number of the workers' connections. */
    public function connections(): int
    {
        if (str_starts_with($this->name, 'memcached')) {
            return $this->server->memcached_connections() - $this->own;
        }
        return preg_match('/^(mariadb|mysql)/', $this->name)
            ? (int) $this->server->sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'owner'")
            : substr_count($this->server->ask('CLIENT LIST'), 'name=token_bucket');
    }

    public function count_own(): void
    {
        $this->own = str_starts_with($this->name, 'memcached') ? $this->server->memcached_connections() : 0;
    }
}

/**
 * A Redis and its replica behind one address, which fails over: they exchange their roles without a loss, connections stay with the old master, and
 * some seconds later the address leads to the new one.
 */
final class MovingNode extends Node
{
    // It is an outage if there is no other server for two seconds.
    public const FAULTS = ['move' => [4_000, 6_000]];

    private readonly MovingAddress $address;

    public function __construct(string $name, private Server $master, private Server $replica)
    {
        parent::__construct($name, $master, false);
        $this->address = new MovingAddress($master);
        wait_until($master->is_replicated(...));
    }

    public function dsn(): string
    {
        return "redis://127.0.0.1:{$this->address->port}";
    }

    public function begin(string $fault): void
    {
        $this->master->ask('FAILOVER');
        wait_until(fn (): bool => str_contains($this->replica->ask('INFO replication'), 'role:master') && str_contains($this->master->ask('INFO replication'), 'master_link_status:up'));
        [$this->master, $this->replica] = [$this->replica, $this->master];
    }

    public function end(string $fault): void
    {
        $this->address->lead_to($this->master);
    }

    public function connections(): int
    {
        $of = fn (Server $server): int => substr_count($server->ask('CLIENT LIST'), 'name=token_bucket');
        return $of($this->master) + $of($this->replica);
    }
}

/** A store, and the buckets and sliding windows on it that attackers fight for. */
final class Store
{
    /** @var array<string, ?Node> the server of each bucket and each window; null in shared memory */
    public array $hot = [];

    /** @param list<Node> $nodes */
    public function __construct(
        public readonly string $name,
        public readonly string $dsn,
        public readonly array $nodes = [],
        /** The most breakers that an outage of one server can open. */
        public readonly int $breakers = 1,
        /** Nanoseconds within which a server is used again after its return. */
        public readonly int $back_within = BACK_WITHIN,
        /** The most tokens that the host takes ahead. */
        public readonly int $lease = 0,
        /** The most calls of a hundred that may fail alone, on a server that is up all the time; null if none may. */
        public readonly ?float $fail_alone = null,
        /** Milliseconds between two stalls of the server, each of which may be an outage; 0 if it has none. */
        public readonly int $stalls_every = 0,
    ) {
    }

    /** @return array{int, int} the capacity and the rate of the buckets that attackers fight for */
    public function limit(): array
    {
        return $this->lease > 0 ? [LEASED_CAPACITY, LEASED_RATE] : [CAPACITY, RATE];
    }

    /** The identifier that attackers fight for now. Of leased buckets it is one at a time, so that the others fill and can be leased again. */
    public function target(): string
    {
        return $this->lease > 0 ? array_keys($this->hot)[intdiv(hrtime(true), LEASED_FOR) % count($this->hot)] : array_rand($this->hot);
    }

    /** Whether some attackers go to one bucket of it, all to the same one. */
    public function is_hot(): bool
    {
        return str_starts_with($this->name, 'hot');
    }

    public function has_permits(): bool
    {
        // Those of a call that fails alone are this host's own.
        return preg_match('/^(shm|redis)/', $this->dsn) === 1 && $this->fail_alone === null;
    }

    /** The servers' addresses, as warnings name them. */
    public function addresses(): array
    {
        preg_match_all('~127\.0\.0\.1:\d+|(?<=unix://|s3cret@)/[^?]+~', $this->dsn, $found);
        $master = str_contains($this->dsn, '+sentinel') ? ["127.0.0.1:{$this->nodes[0]->server->port}"] : [];
        return [...$found[0], ...$master];
    }

    /** Chooses buckets and sliding windows, so many of each, so that every server has one of each. Sliding windows have no leases. */
    public function choose(int $count): void
    {
        $this->hot = $this->chosen('hot', $count) + ($this->lease > 0 ? [] : $this->chosen('window', $count));
    }

    /** @return array<string, ?Node> */
    private function chosen(string $word, int $count): array
    {
        if (!$this->nodes) {
            return array_fill_keys(array_map(fn (int $i): string => "$word:$i", range(1, $count)), null);
        }
        $chosen = [];
        for ($i = 1; count($chosen) < $count; $i++) {
            $node = count($this->nodes) === 1 ? $this->nodes[0] : $this->node_of("$word:$i");
            $missing = array_udiff($this->nodes, $chosen, fn (Node $a, Node $b): int => spl_object_id($a) <=> spl_object_id($b));
            if (in_array($node, $missing, true) || count($missing) < $count - count($chosen)) {
                $chosen["$word:$i"] = $node;
            }
        }
        return $chosen;
    }

    /** The server that keeps a bucket or a window. A cluster's nodes know theirs; a memcached is asked after a call has made it. */
    private function node_of(string $id): Node
    {
        $is_memcached = str_starts_with($this->name, 'memcached');
        if ($is_memcached) {
            $dsn = with($this->dsn, 'timeout_ms=5000&on_error=throw');
            (is_window($id) ? new TokenBucket\SlidingWindow($dsn, $id, 2, 2) : new TokenBucket($dsn, $id, 2, 1))->consume();
        }
        $name = "tb:$id" . (is_window($id) ? '#s' : '');
        foreach ($this->nodes as $node) {
            $command = $is_memcached ? "mg $name" : "EXISTS $name";
            if (preg_match('/^(HD|:)/m', $node->server->ask($command))) {
                return $node;
            }
        }
        throw new RuntimeException("$this->name: no server has $id");
    }
}

/** Whether an identifier is one of a sliding window. page.php decides in the same way. */
function is_window(string $id): bool
{
    return str_starts_with($id, 'window:');
}

/** @return list<Store> */
function stores(): array
{
    $redis = fn (string $name, array $options = [], string $kind = 'redis'): Node => new Node($name, new Server($kind, $options), true);
    $memcached = fn (string $name, string $kind = 'memcached'): Node => new Node($name, new Server($kind), true);

    $certificates = getenv('TB_SERVERS');
    $tls_port = free_port();
    $tls = $redis('redis, TLS', ['--tls-port', $tls_port, '--tls-ca-cert-file', "$certificates/ca.pem", '--tls-cert-file', "$certificates/server.pem", '--tls-key-file', "$certificates/server.key"]);
    $unix = $redis('redis, unix', kind: 'redis+unix');
    $nodes = cluster();
    $master = $redis('redis master');
    file_put_contents($file = "{$master->server->folder}/sentinel.conf", "sentinel monitor main 127.0.0.1 {$master->server->port} 1\nsentinel down-after-milliseconds main 1000\n");
    $sentinel = new Server('sentinel', [$file]);
    [$one, $two] = [$memcached('memcached 1 of 2'), $memcached('memcached 2 of 2')];
    $local = $memcached('memcached, unix', 'memcached+unix');
    $mariadb = new Node('mariadb', new Server('mariadbd', ['--innodb-buffer-pool-size=64M']), false);
    $mysql = new Node('mysql', new Server('mysqld', ['--innodb-buffer-pool-size=64M']), false);
    $leased = function (Node $node, string $name): Store {
        $dsn = $node->server->dsn('lease=' . LEASE);
        return new Store($name, str_starts_with($dsn, 'mysql') ? prepared($dsn) : $dsn, [$node], lease: LEASE);
    };
    $socket = fn (Node $node): string => prepared("mysql+unix://owner:s3cret@{$node->server->folder}/socket?db=limits&table=over_socket");

    $stores = [
        new Store('shm', 'shm:'),
        new Store('redis', ($node = $redis('redis'))->server->dsn(), [$node]),
        new Store('redis, unix', $unix->server->dsn('db=1'), [$unix]),
        new Store('redis, TLS', "rediss://127.0.0.1:$tls_port/2?ca=$certificates/ca.pem&cert=$certificates/client.pem&key=$certificates/client.key", [$tls]),
        // A third of the slots touches twelve of the breakers.
        new Store('redis, cluster', 'redis+cluster://' . implode(',', array_map(fn (Node $node): string => "127.0.0.1:{$node->server->port}", $nodes)), $nodes, 12,
            // A cluster clears a master's FAIL flag after twice the node time-out (FAIL_UNDO_TIME_MULT), and a node that
            // was in the minority waits for one more. Until then they answer CLUSTERDOWN.
            BACK_WITHIN + 3 * NODE_TIMEOUT_MS * 1_000_000),
        new Store('redis, sentinel', "redis+sentinel://127.0.0.1:$sentinel->port/main", [$master]),
        new Store('memcached', ($node = $memcached('memcached'))->server->dsn(), [$node]),
        new Store('memcached, two', "memcached://127.0.0.1:{$one->server->port},127.0.0.1:{$two->server->port}", [$one, $two]),
        new Store('memcached, unix', $local->server->dsn(), [$local]),
        new Store('mariadb', prepared($mariadb->server->dsn()), [$mariadb]),
        new Store('mariadb, unix', $socket($mariadb), [$mariadb]),
        // Not over TCP: without TLS, MySQL refuses logins after a restart until a client has shown the password.
        new Store('mysql, unix', $socket($mysql), [$mysql]),
        // The stores on which one process of the host asks for all.
        new Store('hot on memcached', ($node = $memcached('memcached, hot'))->server->dsn(), [$node]),
        new Store('hot on mariadb', prepared(($node = new Node('mariadb, hot', new Server('mariadbd', ['--innodb-buffer-pool-size=64M']), false))->server->dsn()), [$node]),
        $leased($redis('redis, lease'), 'lease on redis'),
        $leased($memcached('memcached, lease'), 'lease on memcached'),
        // One answer in 1,000 comes after the time-out.
        new Store('loss', late_redis(1_000, 2_000 * TIMEOUT_MS), fail_alone: 1),
        // Two of the eight workers get no connection.
        new Store('refused', crowded_redis(WORKERS - 2), fail_alone: 40),
        // Silent for longer than a call may take, for 5 % of the time: each worker may lose two calls of a stall.
        new Store('stalls', stalled_redis(60, 150, STALLS_EVERY_MS), fail_alone: 10, stalls_every: STALLS_EVERY_MS),
        // A worker looks for the new master once a second, and finds it at its next call.
        new Store('redis, moves', ($moving = moving_redis())->dsn(), [$moving], back_within: BACK_WITHIN + 1_000_000_000),
        $leased(new Node('mariadb, lease', new Server('mariadbd', ['--innodb-buffer-pool-size=64M']), false), 'lease on mariadb'),
    ];
    foreach ($stores as $store) {
        $store->choose(BUCKETS);
        foreach ($store->nodes as $node) {
            $node->count_own();
        }
    }
    return $stores;
}

function moving_redis(): MovingNode
{
    $master = new Server('redis', ['--repl-diskless-sync-delay', '0']);
    return new MovingNode('redis, moves', $master, new Server('redis', ['--repl-diskless-sync-delay', '0', '--replicaof', '127.0.0.1', $master->port]));
}

/** Three nodes without replicas: if one fails, the others serve their slots on. */
function cluster(): array
{
    $nodes = [];
    foreach ([[0, 5460], [5461, 10922], [10923, 16383]] as $i => [$first, $last]) {
        // The port of the cluster's bus must be free, too; by default it is the port plus 10000.
        $server = new Server('redis', ['--cluster-enabled', 'yes', '--cluster-node-timeout', NODE_TIMEOUT_MS, '--cluster-require-full-coverage', 'no', '--cluster-port', free_port()]);
        $server->ask("CLUSTER ADDSLOTSRANGE $first $last");
        $knows = fn (): bool => str_contains($server->ask('CLUSTER INFO'), 'cluster_state:ok');
        $nodes[] = new Node("redis node $i", $server, true, $knows);
        if ($i > 0) {
            $bus = (int) explode("\r\n", $nodes[0]->server->ask('CONFIG GET cluster-port'))[4];
            $server->ask("CLUSTER MEET 127.0.0.1 {$nodes[0]->server->port} $bus");
        }
    }
    foreach ($nodes as $node) {
        wait_until(fn (): bool => preg_match('/cluster_state:ok.*cluster_slots_ok:16384/s', $node->server->ask('CLUSTER INFO')) === 1);
    }
    return $nodes;
}

/** The DSN of a Redis behind a proxy that keeps one answer in so many back, and with it its connection, for some microseconds. */
function late_redis(int $one_in, int $pause): string
{
    return 'redis://127.0.0.1:' . proxy((new Server('redis'))->port, function (string $bytes, bool $is_answer) use ($one_in, $pause): string {
        $is_answer && mt_rand(1, $one_in) === 1 && usleep($pause);
        return $bytes;
    });
}

/** The DSN of a Redis that is silent for so many milliseconds, again and again. */
function stalled_redis(int $shortest, int $longest, int $every): string
{
    static $running = [];
    $redis = new Server('redis', ['--enable-debug-command', 'yes']);
    $running[] = proc_open(array_map(strval(...), ['setpriv', '--pdeathsig', 'KILL', PHP_BINARY, '-n', __DIR__ . '/stalls.php', $redis->port, $shortest, $longest, $every]), [], $pipes);
    return $redis->dsn('timeout_ms=50');
}

/** The DSN of a Redis behind an HAProxy that lets so many connections through; further ones wait. */
function crowded_redis(int $connections): string
{
    [$redis, $port] = [new Server('redis'), free_port()];
    file_put_contents($file = "{$redis->folder}/haproxy", "listen redis\nmode tcp\nmaxconn $connections\nbind 127.0.0.1:$port\nserver one 127.0.0.1:$redis->port\ntimeout connect 1s\ntimeout client 1h\ntimeout server 1h\n");
    static $running = [];
    $running[] = proc_open(['setpriv', '--pdeathsig', 'KILL', 'haproxy', '-q', '-f', $file], [], $pipes);
    wait_until(fn (): bool => (bool) @stream_socket_client("tcp://127.0.0.1:$port"));
    return "redis://127.0.0.1:$port";
}
