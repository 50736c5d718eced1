--TEST--
Memory: repeated calls, buckets and connections on servers leak nothing
--FILE--
<?php
require __DIR__ . '/../servers.inc';
require __DIR__ . '/flat.inc';

$class = fn (string $dsn): string => 'TokenBucket\\' . match (strtok($dsn, '+:')) {
    'redis', 'rediss' => 'RedisStorage',
    'memcached' => 'MemcachedStorage',
    'mysql' => 'MysqlStorage',
};
/** MariaDB ends a transaction whose client stands still for a second, as on a busy machine: the call is made once more. */
function patiently(callable $work): callable
{
    return fn (int $done) => wait_until(function () use ($work, $done): bool {
        try {
            $work($done);
            return true;
        } catch (TokenBucket\StorageException) {
            return false;
        }
    });
}

$times = max(10, intdiv(times(), 200));
foreach (server_dsns() as $name => $dsn) {
    // What is tested is memory, not speed: a slow machine must not make it the fallback's.
    $dsn = with($dsn, 'on_error=throw&timeout_ms=10000&connect_timeout_ms=10000');
    flat("$name, calls", patiently(calls($dsn)), $times, 60);
    flat("$name, new buckets", patiently(objects($dsn)), $times, 60);
    flat("$name, new Compounds", patiently(compounds($dsn)), $times, 60);
    str_starts_with($name, 'TB_REDIS') && flat("$name, permits", patiently(permits($dsn)), $times, 60);
    flat("$name, connections", patiently(fn () => (new TokenBucket(new ($class($dsn))($dsn), 'again', 10, 1e6))->consume()), $times, 60);
}
?>
--EXPECT--
TB_REDIS, calls: flat
TB_REDIS, new buckets: flat
TB_REDIS, new Compounds: flat
TB_REDIS, permits: flat
TB_REDIS, connections: flat
TB_REDIS_UNIX, calls: flat
TB_REDIS_UNIX, new buckets: flat
TB_REDIS_UNIX, new Compounds: flat
TB_REDIS_UNIX, permits: flat
TB_REDIS_UNIX, connections: flat
TB_REDIS_TLS, calls: flat
TB_REDIS_TLS, new buckets: flat
TB_REDIS_TLS, new Compounds: flat
TB_REDIS_TLS, permits: flat
TB_REDIS_TLS, connections: flat
TB_REDIS_CLUSTER, calls: flat
TB_REDIS_CLUSTER, new buckets: flat
TB_REDIS_CLUSTER, new Compounds: flat
TB_REDIS_CLUSTER, permits: flat
TB_REDIS_CLUSTER, connections: flat
TB_REDIS_SENTINEL, calls: flat
TB_REDIS_SENTINEL, new buckets: flat
TB_REDIS_SENTINEL, new Compounds: flat
TB_REDIS_SENTINEL, permits: flat
TB_REDIS_SENTINEL, connections: flat
TB_MEMCACHED, calls: flat
TB_MEMCACHED, new buckets: flat
TB_MEMCACHED, new Compounds: flat
TB_MEMCACHED, connections: flat
TB_MEMCACHED_UNIX, calls: flat
TB_MEMCACHED_UNIX, new buckets: flat
TB_MEMCACHED_UNIX, new Compounds: flat
TB_MEMCACHED_UNIX, connections: flat
TB_MEMCACHED_TWO, calls: flat
TB_MEMCACHED_TWO, new buckets: flat
TB_MEMCACHED_TWO, new Compounds: flat
TB_MEMCACHED_TWO, connections: flat
TB_MARIADB, calls: flat
TB_MARIADB, new buckets: flat
TB_MARIADB, new Compounds: flat
TB_MARIADB, connections: flat
TB_MARIADB_UNIX, calls: flat
TB_MARIADB_UNIX, new buckets: flat
TB_MARIADB_UNIX, new Compounds: flat
TB_MARIADB_UNIX, connections: flat
TB_MARIADB_TLS, calls: flat
TB_MARIADB_TLS, new buckets: flat
TB_MARIADB_TLS, new Compounds: flat
TB_MARIADB_TLS, connections: flat
TB_MYSQL, calls: flat
TB_MYSQL, new buckets: flat
TB_MYSQL, new Compounds: flat
TB_MYSQL, connections: flat
TB_MYSQL_UNIX, calls: flat
TB_MYSQL_UNIX, new buckets: flat
TB_MYSQL_UNIX, new Compounds: flat
TB_MYSQL_UNIX, connections: flat
TB_MYSQL_TLS, calls: flat
TB_MYSQL_TLS, new buckets: flat
TB_MYSQL_TLS, new Compounds: flat
TB_MYSQL_TLS, connections: flat
