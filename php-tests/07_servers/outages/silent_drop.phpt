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
    return strange_server(function ($client) use ($server): void {
        if (pcntl_fork() > 0) {
            fclose($client);
            return;
        }
        $upstream = stream_socket_client("tcp://127.0.0.1:$server->port");
        $dropped = false;
        for ($last = microtime(true); ; $last = microtime(true)) {
            $readable = [$client, $upstream];
            $none = null;
            stream_select($readable, $none, $none, null);
            $dropped = $dropped || microtime(true) > $last + 0.9;
            foreach ($readable as $from) {
                $bytes = fread($from, 8192);
                if ($bytes === '' || $bytes === false) {
                    posix_kill(posix_getpid(), SIGKILL);
                }
                $dropped || fwrite($from === $client ? $upstream : $client, $bytes);
            }
        }
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
