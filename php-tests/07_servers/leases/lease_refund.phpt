--TEST--
lease: a refund goes into the lease while there is room, and never leaves more than a capacity; a decision gives back no token that has come back by itself
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/utils.inc';

$redis = new Server('redis');
/** How many commands the server gets for $call. */
$trips = function (callable $call) use ($redis): int {
    $asked = fn (): int => $redis->commands()['evalsha'] ?? 0;
    $before = $asked();
    $call();
    return $asked() - $before;
};
(new TokenBucket($redis->dsn(), 'script', 1, 1))->peek();

// Another bucket each time, after so many calls: each token is there once, and the host has some of them.
$used = function (string $name, int $calls, int $lease = 64) use ($redis): TokenBucket {
    $bucket = new TokenBucket($redis->dsn("lease=$lease"), $name, 1_000, 0.001);
    times($calls, $bucket->consume(...));
    return $bucket;
};
$left = fn (TokenBucket $bucket): string => implode(' ', array_map(fn (int $cost): int => $bucket->peek($cost)->getRemainingTokens(), [0, 1, 500]));
/** How many tokens a bucket gives out at once. */
$gives = function (TokenBucket $bucket): int {
    for ($given = $denied = 0; $denied < 3;) {
        $bucket->consume() ? $given++ : $denied++;
    }
    return $given;
};
$bucket = $used('room', 150);
echo 'left: ', $left($bucket), ', ', $trips(fn () => $bucket->refund(20)), ' trips, left: ', $left($bucket), ', gives ', $gives($bucket), "\n";
$bucket = $used('no room', 150);
echo 'left: ', $left($bucket), ', ', $trips(fn () => $bucket->refund(50)), ' trip, left: ', $left($bucket), ', gives ', $gives($bucket), "\n";
$bucket = $used('few calls', 1);
echo 'few calls: ', $trips(fn () => $bucket->refund()), " trip\n";

// More than was taken.
foreach ([5_000, PHP_INT_MAX] as $count) {
    foreach ([1, 64, 128, 700, 1_000] as $calls) {
        ($bucket = $used("all-$count-$calls", $calls))->refund($count);
        echo $left($bucket), ' ', $gives($bucket), ', ';
    }
    echo "refund($count)\n";
}
foreach ([1, 7, 40] as $count) {
    $bucket = $used("often-$count", 200);
    times(50, function () use ($bucket, $count): void {
        $bucket->consume();
        $bucket->refund($count);
    });
    echo $gives($bucket), ', ';
}
// By the limiter and by each decision.
$bucket = $used('twice', 200);
$decisions = array_map(fn () => $bucket->attempt(5), range(1, 40));
$bucket->refund(200);
array_map(fn ($decision) => $decision->refund(), $decisions);
echo $gives($bucket), " after many refunds\n";

// On each store.
foreach (server_dsns() as $name => $dsn) {
    $bucket = new TokenBucket(with($dsn, 'lease=50&timeout_ms=10000&connect_timeout_ms=10000'), 'lease-refund:' . bin2hex(random_bytes(8)), 300, 0.001);
    times(100, $bucket->consume(...));
    $bucket->refund(10);
    $bucket->peek()->getRemainingTokens() === 210 || print("$name: {$left($bucket)}\n");
    $bucket->refund(1_000);
    ($given = $gives($bucket)) === 300 || print("$name: $given\n");
}

foreach ([0, 64] as $lease) {
    // 400 tokens, which all come back within a second.
    $bucket = new TokenBucket($redis->dsn("lease=$lease"), "bucket-$lease", 400, 400);
    for ($i = 0; $i < 60; $i++) {
        $bucket->consume();
    }
    $held = array_map(fn () => $bucket->attempt(), range(1, 150));
    $given_back = fn (array $decisions): int => count(array_filter($decisions, fn ($decision) => $decision->refund()));
    $in_time = array_map(fn () => $bucket->attempt(), range(1, 20));
    echo "lease=$lease: ", count(array_filter([...$held, ...$in_time], fn ($decision) => $decision->isAccepted())), ' accepted, ', $given_back($in_time), " given back at once\n";
    // The shortest wait after which nothing that the decisions took is missing.
    usleep(1_100_000);
    (new TokenBucket($redis->dsn(), "bucket-$lease", 400, 400))->takeUpTo(400);
    echo $given_back($held), " given back that had come back\n";
}

// A call that fetched a batch gives back its own token only, as long as that is missing.
$bucket = new TokenBucket($redis->dsn('lease=64'), 'fetched', 10_000, 1000);
$decisions = array_map(fn () => $bucket->attempt(), range(1, 127));
usleep(1_100_000);
echo array_sum(array_map(fn ($decision) => (int) $decision->refund(), $decisions)), " given back by those that fetched\n";
?>
--EXPECT--
left: 850 850 850, 0 trips, left: 870 870 870, gives 870
left: 850 850 850, 1 trip, left: 900 900 900, gives 900
few calls: 1 trip
1000 1000 1000 1000, 1000 1000 1000 1000, 1000 1000 1000 1000, 1000 1000 1000 1000, 1000 1000 1000 1000, refund(5000)
1000 1000 1000 1000, 1000 1000 1000 1000, 1000 1000 1000 1000, 1000 1000 1000 1000, 1000 1000 1000 1000, refund(9223372036854775807)
800, 1000, 1000, 1000 after many refunds
lease=0: 170 accepted, 20 given back at once
0 given back that had come back
lease=64: 170 accepted, 20 given back at once
0 given back that had come back
0 given back by those that fetched
