--TEST--
Decision: settle(): one command for all limits of a Compound on one Redis; in an outage where the estimate was taken; to a lease what it gave
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{Compound, FixedWindow, SlidingWindow};

$redis = new Server('redis');
$trips = function (callable $work) use ($redis): int {
    $asked = fn (): int => $redis->commands()['evalsha'] ?? 0;
    $before = $asked();
    $work();
    return $asked() - $before;
};
$limits = [TokenBucket::per($redis->dsn(), 'a', 10, 3600), new FixedWindow($redis->dsn(), 'b', 20, 3600), new SlidingWindow($redis->dsn(), 'c', 30, 3600)];
$all = new Compound(...$limits);
$left = fn (): string => implode(' ', array_map(fn ($limit) => $limit->peek(0)->getRemainingTokens(), $limits));
$all->peek();
foreach ([[1, 1, 1], [4, 4, 4], [3, 3, 9], [3, 3, 3], 0, [5, 3, 0]] as $cost) {
    $decision = $all->attempt(3);
    echo json_encode($cost), ': ', $trips(function () use ($decision, $cost, &$is_done) {
        $is_done = $decision->settle($cost);
    }), ' ', json_encode($is_done), ' left ', $left(), ', it says ', $decision->getRemainingTokens(), "\n";
    $all->reset();
}
// One limit that denies its part keeps nothing from the others.
$decision = $all->attempt(3);
$limits[0]->block(60);
echo json_encode($decision->settle(5)), ' ', $left(), "\n";
$all->reset();

// A lease.
$bucket = new TokenBucket($redis->dsn('lease=20'), 'leased', 1_000, 0.001);
times(150, $bucket->consume(...));
$settled = fn (int $cost): string => json_encode($bucket->attempt(3)->settle($cost)) . ' left ' . $bucket->peek(0)->getRemainingTokens();
echo 'lease: ', $settled(1), ', ', $settled(5), "\n";

// An outage.
$redis->kill();
echo 'unknown: ', json_encode((function () {
    $server = new Server('redis');
    $bucket = TokenBucket::per($server->dsn('on_error=closed'), 'x', 10, 3600);
    $decision = $bucket->attempt(3);
    $server->kill();
    return [@$decision->settle(5), @$bucket->attempt(1)->settle(2)];
})()), "\n";
$server = new Server('redis');
$server->kill();
$fallback = TokenBucket::per($server->dsn('on_error=fallback'), 'x', 10, 3600);
$decision = @$fallback->attempt(3);
echo 'fallback: ', json_encode([$decision->isDegraded(), $decision->settle(8), $fallback->peek(0)->getRemainingTokens(), $decision->getRemainingTokens()]), "\n";
?>
--EXPECT--
[1,1,1]: 1 true left 9 19 29, it says 9
[4,4,4]: 1 true left 6 16 26, it says 6
[3,3,9]: 1 true left 7 17 21, it says 7
[3,3,3]: 0 true left 7 17 27, it says 7
0: 1 true left 10 20 30, it says 10
[5,3,0]: 1 true left 5 17 30, it says 5
true 0 15 25
lease: true left 849, true left 844
unknown: [null,false]
fallback: [true,true,2,2]
