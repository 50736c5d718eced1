--TEST--
memcached: a host whose clock is behind or ahead adds at most one limit, and the difference is said once
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.test_clock=1
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';
require dirname(__DIR__, 2) . '/utils.inc';
run_apart(__FILE__); // each kind of clock is said once by a host

$limits = [
    'a bucket' => fn (string $dsn): object => TokenBucket::per($dsn, 'x', 20, 3_600),
    'a fixed window' => fn (string $dsn): object => new TokenBucket\FixedWindow($dsn, 'x', 20, 3_600),
    'a sliding window' => fn (string $dsn): object => new TokenBucket\SlidingWindow($dsn, 'x', 20, 3_600),
    'a calendar window' => fn (string $dsn): object => new TokenBucket\CalendarWindow($dsn, 'x', 20, 'day', 'UTC'),
];
$first = true;
foreach ([-3, -3_600, 3_600] as $difference) {
    foreach ($limits as $what => $make) {
        $server = new Server('memcached');
        // Two hosts: one of them goes by the clock of the system.
        $accepted = at_once(2, fn (int $host): callable => function () use ($host, $make, $server, $difference): int {
            $limit = $make($server->dsn());
            $accepted = 0;
            for ($call = 0; $call < 200; $call++) {
                $host === 1 && TokenBucket\TestClock::freeze(microtime(true) + $difference);
                $accepted += (int) @$limit->attempt()->isAccepted();
                usleep(1_000);
            }
            return $accepted;
        });
        $most = $difference === -3 && $what !== 'a calendar window' ? 21 : 40;
        $sum = array_sum($accepted);
        echo "$difference s, $what: ", $sum >= 20 && $sum <= $most ? 'as documented' : json_encode($accepted), "\n";
    }
}
// The host that is behind finds a state of the other one.
$server = new Server('memcached');
$bucket = TokenBucket::per($server->dsn(), 'y', 20, 3_600);
$_ = $bucket->attempt();
TokenBucket\TestClock::freeze(microtime(true) - 3_600);
// A process notes what it has seen about once a second; one that has noted nothing yet does at once.
$warnings = [];
wait_until(function () use ($bucket, &$warnings): bool {
    array_push($warnings, ...warnings($bucket->attempt(...)));
    return $warnings !== [];
});
echo preg_replace('/least \d+\.\d/', 'least N', implode(', ', $warnings)), "\n";
[$again] = at_once(1, fn (): callable => fn (): array => warnings($bucket->attempt(...)));
echo $again === [] ? 'said once' : json_encode($again), "\n";
TokenBucket\TestClock::resume();
$row = server_row($server->port);
echo round($row['clock_behind'], -2), " s behind\n";
echo preg_match("/^token_bucket_server_clock_behind_seconds\{server=\"[^\"]*:$server->port\"\} 3\d{3}/m", TokenBucket\prometheus()), " in Prometheus\n";
?>
--EXPECT--
-3 s, a bucket: as documented
-3 s, a fixed window: as documented
-3 s, a sliding window: as documented
-3 s, a calendar window: as documented
-3600 s, a bucket: as documented
-3600 s, a fixed window: as documented
-3600 s, a sliding window: as documented
-3600 s, a calendar window: as documented
3600 s, a bucket: as documented
3600 s, a fixed window: as documented
3600 s, a sliding window: as documented
3600 s, a calendar window: as documented
TokenBucket::attempt(): memcached at 127.0.0.1:PORT: the clock of this host is at least N s behind that of another host. Limits count by the clock furthest ahead, so up to one limit more was admitted; set the clocks by NTP
said once
3600 s behind
1 in Prometheus
