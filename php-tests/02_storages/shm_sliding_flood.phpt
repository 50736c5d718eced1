--TEST--
SlidingWindow: in a table too small for its clients no client gets more hits than the limit, newcomers are denied, and denials and evictions are counted
--INI--
token_bucket.shm_size=64K
--FILE--
<?php
use TokenBucket\{FixedWindow, SlidingWindow, TestClock};
use function TokenBucket\statistics;
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);
const CLIENTS = 100;
const LIMIT = 5;
const INTERVAL = 300;

/** @var array<string, list<float>> when each client's hits were taken */
$log = [];
$now = 1_000_000.0;
TestClock::freeze($now);
$advance = function (float $seconds) use (&$now): void {
    TestClock::freeze($now += $seconds);
};
$take = function (string $client) use (&$log, &$now): bool {
    $is_accepted = (new SlidingWindow('shm:sliding-flood', $client, LIMIT, INTERVAL, name: 'sliding'))->consume();
    if ($is_accepted) {
        $log[$client][] = $now;
    }
    return $is_accepted;
};
/** How many hits a group of clients gets, six tries each. */
$got = fn (string $group): int => array_sum(array_map(fn (int $i): int => substr_count(times(6, fn () => $take("$group-$i")), '1'), range(1, CLIENTS)));

echo 'before: ', $got('denied'), "\n";
for ($i = 1; $i <= CLIENTS; $i++) {
    $take("partly-$i");
    $take("partly-$i");
}
// Many times what the table holds: windows of both kinds, buckets, and clients of before that go on.
mt_srand(7);
$calls = 0;
for ($i = 0; $i < 40_000; $i++) {
    $i % 1_000 || $advance(1);
    match ($i % 4) {
        0 => $take("flood:$i") || $take("flood:$i"),
        1 => TokenBucket::per('shm:sliding-flood', "flood:$i", 10, INTERVAL)->consume(mt_rand(1, 10)),
        2 => (new FixedWindow('shm:sliding-flood', "flood:$i", 10, INTERVAL))->consume(),
        3 => $take((mt_rand(0, 1) ? 'denied-' : 'partly-') . mt_rand(1, CLIENTS)),
    };
}
echo 'denied: ', array_sum(array_map(fn (int $i): int => count($log["denied-$i"]) - LIMIT, range(1, CLIENTS))), " more\n";
echo 'partly: ', max(array_map(fn (int $i): int => count($log["partly-$i"]), range(1, CLIENTS))), " at most\n";
$counts = statistics()['sliding'];
echo 'newcomers: ', $counts['denied'] > 1_000 ? 'denied, and counted' : $counts['denied'], ', ', statistics()['flood']['evictions'] > 100 ? 'evictions counted' : statistics()['flood']['evictions'], "\n";
echo $counts['checked'] === $counts['accepted'] + $counts['denied'] && $counts['accepted'] === array_sum(array_map(count(...), $log)) ? 'the counts are those of the log' : json_encode($counts), "\n";

// All of it once more, for two hours with less of a flood: the log has no stretch with more than the limit.
for ($i = 0; $i < 20_000; $i++) {
    $advance(mt_rand(0, 720) / 1_000);
    $take((mt_rand(0, 1) ? 'denied-' : 'partly-') . mt_rand(1, CLIENTS));
    $i % 3 || $take("trickle-$i");
}
$most = 0;
foreach ($log as $times) {
    foreach ($times as $i => $time) {
        // The next so many hits are later than an interval.
        $most = max($most, count(array_filter(array_slice($times, $i), fn (float $later): bool => $later < $time + INTERVAL)));
    }
}
echo 'the most in an interval: ', $most, "\n";
$advance(2 * INTERVAL);
echo 'when it is over: ', $got('new'), "\n";
?>
--EXPECT--
before: 500
denied: 0 more
partly: 5 at most
newcomers: denied, and counted, evictions counted
the counts are those of the log
the most in an interval: 5
when it is over: 500
