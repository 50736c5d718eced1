--TEST--
memcached: what it gets just after a pause, before its clock goes on, does not look older than it is
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
token_bucket.on_error=throw
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$server = new Server('memcached');
// Its clock is set by its first thread, which runs last here: while the first eight processes are busy, it runs after all calls.
$server->yields();
$results = at_once(24, function (int $i) use ($server): callable {
    // Holds 10, and gets 5 back in a second.
    $bucket = TokenBucket::per($server->dsn(), "x$i", 10, 2);
    $bucket->peek(); // connects
    return function (int $begin) use ($i, $bucket, $server): array {
        if ($i === 23) {
            $server->signal(SIGSTOP);
            usleep(2_500_000);
            $resumed = hrtime(true);
            $server->signal(SIGCONT);
            return [0, $resumed];
        }
        for ($accepted = 0, usleep(1_500_000); hrtime(true) < $begin + 4_500_000_000;) {
            $accepted += $i < 8 ? 0 : $bucket->takeUpTo(10)->getTokens();
        }
        return [$accepted, hrtime(true)];
    };
});
[, $resumed] = array_pop($results);
$above = array_map(fn (array $of): int => max(0, $of[0] - 10 - intdiv($of[1] - $resumed, 200_000_000)), $results);
echo array_sum($above), " above the limit\n";
?>
--EXPECT--
0 above the limit
