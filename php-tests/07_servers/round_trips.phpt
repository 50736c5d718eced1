--TEST--
Servers: round trips of a connection and of calls; what a session needs goes along with its first statement
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

foreach (['redis', 'memcached', SQL_SERVER] as $kind) {
    $server = new Server($kind);
    $kind === SQL_SERVER && prepared($server->dsn());
    $log = "$server->folder/trips";
    $dsn = str_replace(":$server->port", ':' . far_server($server->port, $server->folder), $server->dsn());
    $trips = function (callable $call) use ($log): int {
        file_put_contents($log, '');
        $call();
        return strlen(file_get_contents($log));
    };
    $bucket = new TokenBucket($dsn, 'a', 1, 0.001);
    echo $kind === SQL_SERVER ? 'MariaDB or MySQL' : $kind, "\n";
    // Redis gets the text of the script once.
    (new TokenBucket($server->dsn(), 'other', 1, 0.001))->consume();
    foreach (['connects' => $bucket->consume(...), 'denied' => $bucket->consume(...), 'peek' => $bucket->peek(...), 'new key' => (new TokenBucket($dsn, 'b', 5, 0.001))->consume(...)] as $what => $call) {
        echo "  $what: ", $trips($call), "\n";
    }
    if ($kind === SQL_SERVER) {
        $all = new TokenBucket\Compound(new TokenBucket($dsn, 'c', 5, 1), new TokenBucket($dsn, 'd', 5, 1));
        $all->consume();
        $all->consume();
        echo '  a Compound of two: ', $trips($all->consume(...)), "\n";
    }
}
?>
--EXPECT--
redis
  connects: 2
  denied: 1
  peek: 1
  new key: 1
memcached
  connects: 2
  denied: 1
  peek: 1
  new key: 2
MariaDB or MySQL
  connects: 3
  denied: 1
  peek: 1
  new key: 2
  a Compound of two: 6
