--TEST--
memcached: an item is one that an older version reads, and one that an older version wrote counts
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

$server = new Server('memcached');
$link = stream_socket_client("tcp://127.0.0.1:$server->port");
$ask = function (string $command, int $lines) use ($link): array {
    fwrite($link, "$command\r\n");
    return array_map(fn (): string => rtrim(fgets($link), "\r\n"), range(1, $lines));
};
$bucket = new TokenBucket($server->dsn(), 'x', 10, 1);
$begin = time();
$bucket->consume(4);
$bucket->consume(6);
$key = 'tb:x';
[$head] = $ask("mg $key s f", 1);
preg_match('/^HD s(\d+) f(\d+)$/', $head, $found) || die($head);
$written = 1_577_836_800 + $found[2];
echo "$found[1] bytes, ", $written >= $begin && $written <= time() ? 'and when it was written' : "written at $written", "\n";

// An older version keeps no time.
$full_at = substr(pack('J', time() + 10), 3) . pack('NN', 0, 0);
echo $ask("ms $key 13 T30\r\n$full_at", 1)[0], ', ', $bucket->peek(3)->isAccepted() === false ? 'counts' : 'is forgotten', "\n";
echo $bucket->consume(3) ? 'forgiven' : 'denied', "\n";
?>
--EXPECT--
13 bytes, and when it was written
HD, counts
denied
