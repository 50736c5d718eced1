--TEST--
Servers: a firewall that drops the packets of idle connections fails one call and opens no breaker
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=1000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

/** Passes everything on, but on a connection that was idle for a second nothing any more. */
function firewall(Server $server): int
{
    $last = INF;
    return proxy($server->port, function (string $bytes) use (&$last): string {
        if (microtime(true) > $last + 0.9) {
            return '';
        }
        $last = microtime(true);
        return $bytes;
    });
}

foreach (['redis', 'memcached', SQL_SERVER] as $kind) {
    $server = new Server($kind);
    $dsn = $server->dsn();
    $kind === SQL_SERVER && prepared($dsn);
    $bucket = new TokenBucket(str_replace(":$server->port", ':' . firewall($server), $dsn), 'x', 100, 0.001);
    $tell = fn (): string => @$bucket->attempt()->isDegraded() ? 'degraded' : 'by the store';
    echo $kind === SQL_SERVER ? 'sql' : $kind, ': ', $tell(), ', ', $tell();
    // The extension takes a connection for idle by the clock of the host.
    usleep(1_200_000);
    echo ', ', $tell(), ', ', $tell(), ', ', $tell(), "\n";
}
?>
--EXPECT--
redis: by the store, by the store, degraded, by the store, by the store
memcached: by the store, by the store, degraded, by the store, by the store
sql: by the store, by the store, degraded, by the store, by the store
