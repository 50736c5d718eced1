--TEST--
MariaDB and MySQL: a sliding window keeps its hits whatever character sets the server gives to a session
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=20000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';
use TokenBucket\SlidingWindow;

$server = new Server(SQL_SERVER);
$dsn = prepared($server->dsn());
/** How many of five calls are accepted in a session of its own, which begins with these character sets. */
$accepted = function (string $id, string $sets) use ($server, $dsn): string {
    $server->sql("SET GLOBAL init_connect = '$sets'");
    return in_processes(1, function () use ($dsn, $id): int {
        $window = new SlidingWindow($dsn, $id, 5, 3600);
        for ($accepted = $i = 0; $i < 5; $i++) {
            $accepted += (int) $window->consume();
        }
        return $accepted;
    })[0];
};
foreach (['', 'SET NAMES latin1', 'SET character_set_client = latin1', 'SET character_set_client = gbk', 'SET character_set_connection = latin1'] as $i => $sets) {
    echo $sets, ': ', $accepted("x-$i", $sets), ', then ', $accepted("x-$i", ''), "\n";
}
?>
--EXPECT--
: 5, then 0
SET NAMES latin1: 5, then 0
SET character_set_client = latin1: 5, then 0
SET character_set_client = gbk: 5, then 0
SET character_set_connection = latin1: 5, then 0
