--TEST--
denials(): tells a denial by the server from one that this host remembers, and from one in its place
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/utils.inc';
use function TokenBucket\denials;
run_apart(__FILE__);

function show(string $name): void
{
    $rows = array_map(fn (array $row): string => "$row[count] $row[reason] by $row[decided_by]", denials($name));
    sort($rows);
    echo "$name: ", implode(', ', $rows), "\n";
}
foreach (['redis' => new Server('redis'), 'memcached' => new Server('memcached')] as $kind => $server) {
    $limits = [
        new TokenBucket($server->dsn(), "{$kind}_bucket:x", 1, 0.001),
        new TokenBucket($server->dsn('lease=8'), "{$kind}_leased:x", 1, 0.001),
        new TokenBucket\FixedWindow($server->dsn(), "{$kind}_window:x", 1, 1000),
    ];
    foreach ($limits as $limit) {
        times(4, $limit->consume(...));
        $limit->block(1000);
        times(2, $limit->consume(...));
    }
    // Two limits on one server: the first has a denial that this host remembers.
    (new TokenBucket\Compound($limits[0], new TokenBucket($server->dsn(), 'other:x', 9, 1)))->consume();
    $server->kill();
    $down = new TokenBucket($server->dsn(), "{$kind}_down:x", 1, 0.001);
    @times(3, $down->consume(...));
    array_map(show(...), ["{$kind}_bucket", "{$kind}_leased", "{$kind}_window", "{$kind}_down"]);
}
?>
--EXPECT--
redis_bucket: 1 empty by store, 2 empty by deny_cache, 3 blocked by deny_cache
redis_leased: 1 empty by store, 2 blocked by deny_cache, 2 empty by deny_cache
redis_window: 2 blocked by deny_cache, 3 empty by store
redis_down: 2 empty by fallback
memcached_bucket: 1 empty by store, 2 empty by deny_cache, 3 blocked by deny_cache
memcached_leased: 1 empty by store, 2 blocked by deny_cache, 2 empty by deny_cache
memcached_window: 2 blocked by deny_cache, 3 empty by store
memcached_down: 2 empty by fallback
