--TEST--
Servers: one that stores nothing new is up: it goes on denying, and only the new client is answered by the policy
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

/** What a limited client and new ones are answered. */
function show(string $what, Server $server, callable $fill, string $dsn): void
{
    $denied = new TokenBucket($dsn, 'denied', 1, 0.001);
    $denied->consume();
    $fill();
    $answers = [];
    $said = warnings(function () use ($dsn, $denied, &$answers): void {
        foreach ([1, 2] as $client) {
            $answers[] = 'new: ' . ((new TokenBucket($dsn, "new $client", 1, 0.001))->attempt()->isDegraded() ? 'degraded' : 'by the store');
            $decision = $denied->attempt();
            $answers[] = 'limited: ' . ($decision->isAccepted() ? 'accepted' : 'denied') . ($decision->isDegraded() ? ', degraded' : '');
        }
    });
    // As Redis 8 says it, and not as Redis 7.0.
    $said = str_replace('ERR The user executing the script', 'ERR ACL failure in script', $said);
    $said = $said ? preg_replace('~((MISCONF|ERR ACL failure in script).*)(; limits)~U', '$2 ...$3', $said) : ['no warning yet'];
    echo "$what\n    ", implode('; ', $answers), "\n    ", implode("\n    ", $said), "\n";
}

foreach (['mariadbd', 'mysqld'] as $kind) {
    $server = new Server($kind, ['--max-heap-table-size=16384']);
    $server->sql('CREATE TABLE full (identifier VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, microtime DOUBLE NOT NULL) ENGINE=MEMORY');
    show("$kind, a full table (1114)", $server, function () use ($server): void {
        for ($i = 0; $i < 20; $i++) {
            $server->sql("INSERT INTO full WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT CONCAT('$i-', i), 0 FROM n");
        }
        while ($server->sql("INSERT INTO full SELECT UUID(), 0; SELECT 1") === '1') {
        }
    }, $server->dsn('table=full'));
    $server->kill();
}
$redis = new Server('redis', ['--enable-protected-configs', 'yes']);
// There may be another master: moves_nowhere.phpt has the warning.
show('Redis, no replica (NOREPLICAS)', $redis, fn () => $redis->ask('CONFIG SET min-replicas-to-write 1'), $redis->dsn());
$redis->ask('CONFIG SET min-replicas-to-write 0');
show('Redis, no snapshot can be written (MISCONF)', $redis, function () use ($redis): void {
    mkdir("$redis->folder/gone");
    $redis->ask("CONFIG SET dir $redis->folder/gone");
    rmdir("$redis->folder/gone");
    $redis->ask('CONFIG SET save "1 1"');
    $redis->ask('BGSAVE');
    wait_until(fn (): bool => str_contains($redis->ask('INFO persistence'), 'rdb_last_bgsave_status:err'));
}, $redis->dsn('prefix=misconf:'));
$redis->ask('CONFIG SET save ""');
$port = free_port();
show('Redis, which has become a replica (READONLY)', $redis, fn () => $redis->ask("REPLICAOF 127.0.0.1 $port"), $redis->dsn('prefix=replica:'));
$redis->ask('REPLICAOF NO ONE');
$redis->ask('ACL SETUSER limited on >s3cret ~* +@all');
show('Redis, a user without a command of the script', $redis, fn () => $redis->ask('ACL SETUSER limited -@write'), str_replace('redis://', 'redis://limited:s3cret@', $redis->dsn('prefix=right:')));
?>
--EXPECT--
mariadbd, a full table (1114)
    new: degraded; limited: denied; new: degraded; limited: denied
    TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: The table 'full' is full; the server needs room for new rows; limits are enforced in this host's shared memory
mysqld, a full table (1114)
    new: degraded; limited: denied; new: degraded; limited: denied
    TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: The table 'full' is full; the server needs room for new rows; limits are enforced in this host's shared memory
Redis, no replica (NOREPLICAS)
    new: degraded; limited: denied; new: degraded; limited: denied
    no warning yet
Redis, no snapshot can be written (MISCONF)
    new: degraded; limited: denied; new: degraded; limited: denied
    TokenBucket::attempt(): Redis at 127.0.0.1:PORT: MISCONF ...; limits are enforced in this host's shared memory
Redis, which has become a replica (READONLY)
    new: degraded; limited: denied; new: degraded; limited: denied
    no warning yet
Redis, a user without a command of the script
    new: degraded; limited: denied; new: degraded; limited: denied
    TokenBucket::attempt(): Redis at 127.0.0.1:PORT: ERR ACL failure in script ...; limits are enforced in this host's shared memory
