--TEST--
SharedMemoryStorage: a flood of new clients lifts no block; blocks without end leave no token and no hit
--INI--
token_bucket.test_clock=1
token_bucket.shm_size=64K
--FILE--
<?php
use TokenBucket\{FixedWindow, SlidingWindow, TestClock};

const CLIENTS = 100;
$bucket = fn (string $identifier) => new TokenBucket('shm:block-flood', $identifier, 10, 1 / 30);
$window = fn (string $identifier) => new FixedWindow('shm:block-flood', $identifier, 10, 300);
$sliding = fn (string $identifier) => new SlidingWindow('shm:block-flood', $identifier, 2, 300);

TestClock::freeze(1_000_000);
for ($i = 0; $i < CLIENTS; $i++) {
    $bucket("blocked-$i")->block(900);
    $window("blocked-$i")->block(900);
    $sliding("blocked-$i")->block(900);
}
// Many times what the table holds.
for ($i = 0; $i < 30_000; $i++) {
    $i % 1000 || TestClock::advance(1);
    $bucket("flood-$i")->consume(10);
    $i % 10 || $window("flood-$i")->consume(10);
    $i % 10 || $sliding("flood-$i")->consume(2);
}
/** The calls that are accepted of all clients, three tries each, and how many know the end of their block. */
$ask = function (callable $limiter): string {
    $accepted = $known = 0;
    for ($i = 0; $i < CLIENTS; $i++) {
        $accepted += $limiter("blocked-$i")->consume() + $limiter("blocked-$i")->consume(0);
        $known += (int) ($limiter("blocked-$i")->attempt()->getRetryAfterSeconds() === 870);
    }
    return "$accepted accepted, $known know the end";
};
echo 'buckets: ', $ask($bucket), "\n", 'windows: ', $ask($window), "\n", 'sliding windows: ', $ask($sliding), "\n";
TestClock::advance(870.1);
echo 'afterwards: ', array_sum(array_map(fn (int $i): int => (int) $bucket("blocked-$i")->consume(1), range(0, CLIENTS - 1))) > 90 ? 'accepted' : 'denied', "\n";

// Blocks only: some are evicted, and no client gets a token for that.
$accepted = 0;
for ($i = 0; $i < 10_000; $i++) {
    $bucket("only-$i")->block(900);
}
for ($i = 0; $i < 10_000; $i++) {
    $accepted += (int) $bucket("only-$i")->consume();
}
echo $accepted, " accepted\n";

// An evicted block of a sliding window leaves no hit.
TestClock::advance(1_000);
for ($i = 0; $i < 3_000; $i++) {
    $sliding("sliding-$i")->block(900);
}
$most = 0;
for ($i = 0; $i < 3_000; $i++) {
    for ($accepted = 0; $accepted < 10 && $sliding("sliding-$i")->consume(); $accepted++) {
    }
    $most = max($most, $accepted);
}
echo $most, " accepted\n";
?>
--EXPECT--
buckets: 0 accepted, 100 know the end
windows: 0 accepted, 100 know the end
sliding windows: 0 accepted, 100 know the end
afterwards: accepted
0 accepted
0 accepted
