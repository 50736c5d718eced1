--TEST--
Servers: processes that get no connection fail over alone; those that have one go on
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

const REFUSED = 4;

/** Shows how the processes fare that have a connection, as many as the server takes, and those that get none. */
function show(string $kind, Server $server, int $connected, ?callable $fill = null, ?int $port = null): void
{
    // One that stands still for longer than a call may take loses its connection to one that has none.
    [$share, $told] = within_three_tries(0.01, fn (): array => fare($server, $connected, $fill, $port));
    echo "$kind\n    with a connection: ", $share <= 0.01 ? 'at most 1 % degraded' : $share, "\n$told";
}

/** The share of calls that are not decided by the server in the processes that have a connection, and what is told of the others. */
function fare(Server $server, int $connected, ?callable $fill, ?int $port): array
{
    // Behind the proxy a process warns after some pauses only.
    $most = $port ? 1200 : 300;
    $dsn = $port ? "redis://127.0.0.1:$port" : $server->dsn('timeout_ms=5000&connect_timeout_ms=5000');
    $prepare = function (int $worker) use ($dsn, $server, $connected, $fill, $most): callable {
        $bucket = new TokenBucket($dsn, "client $worker", 100_000, 100);
        if ($worker < $connected) {
            wait_until_back($bucket);
            touch("$server->folder/connected.$worker");
        } else {
            wait_until(fn (): bool => count(glob("$server->folder/connected.*")) === $connected);
            $fill && $fill();
        }
        return function () use ($bucket, $server, $worker, $connected, $most): array {
            [$calls, $degraded] = [0, 0];
            // Those with a connection keep it until the others are done.
            $goes_on = function () use ($server, $worker, $connected, $most, &$calls): bool {
                return $worker < $connected ? count(glob("$server->folder/done.*")) < REFUSED : $calls < $most;
            };
            $warnings = warnings(function () use ($bucket, $goes_on, &$calls, &$degraded): void {
                for (; $goes_on(); $calls++) {
                    $degraded += (int) $bucket->attempt()->isDegraded();
                    usleep(500);
                }
            });
            touch("$server->folder/done.$worker");
            return [$calls, $degraded, $warnings];
        };
    };
    $results = at_once($connected + REFUSED, $prepare);
    [$with, $without] = [array_slice($results, 0, $connected), array_slice($results, $connected)];
    $share = array_sum(array_column($with, 1)) / array_sum(array_column($with, 0));
    array_map(unlink(...), [...glob("$server->folder/connected.*"), ...glob("$server->folder/done.*")]);
    $all = array_unique(array_column($without, 1)) === [$most] ? 'all degraded' : json_encode(array_column($without, 1));
    return [$share, implode('', array_map(fn (string $line): string => "    $line\n", ["without one: $all", ...array_unique(array_merge(...array_column($results, 2)))]))];
}

$redis = new Server('redis');
$redis->ask('CONFIG SET maxclients 6');
show('Redis', $redis, 6);
$redis->ask('CONFIG SET maxclients 100');
// HAProxy leaves further connections waiting: those processes get no answer in time.
$port = free_port();
file_put_contents("$redis->folder/haproxy", "listen redis\nmode tcp\nmaxconn 4\nbind 127.0.0.1:$port\nserver one 127.0.0.1:$redis->port\ntimeout connect 1s\ntimeout client 60s\ntimeout server 60s\n");
$proxy = proc_open(['setpriv', '--pdeathsig', 'KILL', 'haproxy', '-q', '-f', "$redis->folder/haproxy"], [], $pipes);
show('Redis behind HAProxy', $redis, 4, port: $port);
// Where there are few calls, no answer shows in time that the server is up.
$dsn = "redis://127.0.0.1:$port?timeout_ms=500";
$results = at_once(4 + REFUSED, function (int $worker) use ($dsn, $redis): callable {
    $bucket = new TokenBucket($dsn, "quiet $worker", 100_000, 100);
    if ($worker < 4) {
        wait_until_back($bucket);
        touch("$redis->folder/connected.$worker");
    }
    wait_until(fn (): bool => count(glob("$redis->folder/connected.*")) === 4);
    return function () use ($bucket, $worker, $redis): array {
        $answers = [];
        $pause = $worker < 4 ? 300_000 : 500;
        for ($i = 0; $worker < 4 ? $i < 10 : count(glob("$redis->folder/done.*")) < 4; $i++) {
            $answers[] = @$bucket->attempt()->isDegraded();
            usleep($pause);
        }
        $worker < 4 && touch("$redis->folder/done.$worker");
        return $answers;
    };
});
$share = array_sum(array_map(array_sum(...), array_slice($results, 0, 4))) / 40;
echo "Redis behind HAProxy, few calls\n    with a connection: ", $share <= 0.1 ? 'at most 10 % degraded' : $share, "\n";
proc_terminate($proxy, SIGKILL);
$redis->kill();
// It counts descriptors of its own, so other connections take what is left.
$memcached = new Server('memcached', ['-t', '1', '-c', '32']);
show('memcached', $memcached, 6, function () use ($memcached): void {
    static $open = [];
    do {
        $open[] = $socket = stream_socket_client("tcp://127.0.0.1:$memcached->port");
        fwrite($socket, "version\r\n");
    } while (!str_starts_with(fgets($socket), 'ERROR'));
});
foreach (['MariaDB' => 'mariadbd', 'MySQL' => 'mysqld'] as $name => $kind) {
    $server = new Server($kind, ['--max-connections=10', '--max-user-connections=50']);
    // In a process of its own, whose connection ends with it.
    in_processes(1, fn (): string => prepared($server->dsn()));
    show("$name, max_connections", $server, 10);
    $server->sql('SET GLOBAL max_connections = 100; SET GLOBAL max_user_connections = 6');
    show("$name, max_user_connections", $server, 6);
}
?>
--EXPECT--
Redis
    with a connection: at most 1 % degraded
    without one: all degraded
    TokenBucket::attempt(): Redis at 127.0.0.1:PORT: ERR max number of clients reached; until this process can ask it, limits are enforced in this host's shared memory
Redis behind HAProxy
    with a connection: at most 1 % degraded
    without one: all degraded
    TokenBucket::attempt(): Redis at 127.0.0.1:PORT: cannot connect: no answer in time, while others are answered; until this process is, limits are enforced in this host's shared memory
Redis behind HAProxy, few calls
    with a connection: at most 10 % degraded
memcached
    with a connection: at most 1 % degraded
    without one: all degraded
    TokenBucket::attempt(): memcached at 127.0.0.1:PORT: too many open connections; until this process can ask it, limits are enforced in this host's shared memory
MariaDB, max_connections
    with a connection: at most 1 % degraded
    without one: all degraded
    TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: Too many connections; until this process can ask it, limits are enforced in this host's shared memory
MariaDB, max_user_connections
    with a connection: at most 1 % degraded
    without one: all degraded
    TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: User owner already has more than 'max_user_connections' active connections; until this process can ask it, limits are enforced in this host's shared memory
MySQL, max_connections
    with a connection: at most 1 % degraded
    without one: all degraded
    TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: Too many connections; until this process can ask it, limits are enforced in this host's shared memory
MySQL, max_user_connections
    with a connection: at most 1 % degraded
    without one: all degraded
    TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: User owner already has more than 'max_user_connections' active connections; until this process can ask it, limits are enforced in this host's shared memory