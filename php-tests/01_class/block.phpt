--TEST--
block(): denies every call on the identifier for its time, and no longer
--INI--
token_bucket.warn_of_mistakes=0
--FILE--
<?php
use TokenBucket\{Compound, FixedWindow, LeakyBucket, SlidingWindow, TestClock};
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);

$kinds = [
    'TokenBucket' => fn (string $dsn, string $id) => TokenBucket::per($dsn, $id, 3, 30),
    'LeakyBucket' => fn (string $dsn, string $id) => new LeakyBucket($dsn, $id, 3, 30),
    'FixedWindow' => fn (string $dsn, string $id) => new FixedWindow($dsn, $id, 3, 30),
    'SlidingWindow' => fn (string $dsn, string $id) => new SlidingWindow($dsn, $id, 3, 30),
    'Compound' => fn (string $dsn, string $id) => new Compound(TokenBucket::per($dsn, $id, 3, 30), new FixedWindow($dsn, $id, 3, 30)),
];
foreach (['shm:', 'array:'] as $dsn) {
    echo $dsn, "\n";
    foreach ($kinds as $kind => $make) {
        TestClock::freeze(1_000_000);
        $limiter = $make($dsn, "$kind:x");
        $other = $make($dsn, "$kind:y");
        echo $kind, ': ', times(1, fn () => $limiter->consume());
        $limiter->block(900);
        $decision = $limiter->attempt();
        echo ' ', times(3, fn () => $limiter->consume()), times(2, fn () => $limiter->consume(0)), ' ',
            json_encode([$decision->isAccepted(), $decision->getRetryAfter(), $decision->getRetryAfterSeconds(), $decision->getRemainingTokens(), $decision->getTokens(), $decision->getResetAfter(), $limiter->peek(0)->isAccepted()]);
        // Not another client's.
        echo ' ', times(1, fn () => $other->consume());
        // Calls meanwhile, what is put back, and time do not change its end.
        TestClock::advance(600);
        $limiter->refund(3);
        times(50, fn () => $limiter->consume());
        echo ' ', $limiter->attempt()->getRetryAfter();
        // Of two blocks the later end counts.
        $limiter->block(100);
        echo ' ', $limiter->attempt()->getRetryAfter();
        $limiter->block(400);
        echo ' ', $limiter->attempt()->getRetryAfter();
        // Until its end, then the limit starts afresh.
        TestClock::advance(399.999999999);
        echo ' ', times(1, fn () => $limiter->consume());
        TestClock::advance(0.000000002);
        echo ' ', times(4, fn () => $limiter->consume());
        // reset() lifts it.
        $limiter->block(1_000);
        echo ' ', times(1, fn () => $limiter->consume());
        $limiter->reset();
        echo ' ', times(4, fn () => $limiter->consume()), "\n";
    }

    // The other calls of a TokenBucket.
    $bucket = TokenBucket::per($dsn, 'calls:x', 3, 30);
    $bucket->block(50);
    echo json_encode([$bucket->check(), $bucket->reserve()->isAccepted(), $bucket->reserve(1, 1e6)->isAccepted(), $bucket->reserve(0)->isAccepted(), $bucket->takeUpTo(2)->getTokens(), $bucket->attempt()->getRetryAfter()]), ' ';
    TestClock::advance(49);
    times(20, fn () => $bucket->check());
    echo $bucket->attempt()->getRetryAfter(), ' ';
    TestClock::advance(1.000000001);
    echo $bucket->peek()->getRemainingTokens(), ' ', json_encode($bucket->check()), "\n";

    // Without a limit: both calls are about the bucket of the identifier, whatever its limit.
    (new TokenBucket($dsn, 'bare:x'))->block(900);
    echo times(2, fn () => TokenBucket::per($dsn, 'bare:x', 5, 60)->consume()), times(1, fn () => (new LeakyBucket($dsn, 'bare:x', 500, 1))->consume()), json_encode((new TokenBucket($dsn, 'bare'))->check('x', 5, 60)), ' ';
    echo (new TokenBucket($dsn, 'bare:x', 7, 0.5))->attempt()->getRetryAfter(), ' ', json_encode((new FixedWindow($dsn, 'bare:x', 5, 60))->consume()), ' ';
    (new TokenBucket($dsn, 'bare:x'))->reset();
    echo times(6, fn () => TokenBucket::per($dsn, 'bare:x', 5, 60)->consume()), "\n";

    // The shortest and the longest.
    $bucket->block(1e-9);
    echo times(1, fn () => $bucket->consume());
    TestClock::advance(2e-9);
    echo times(1, fn () => $bucket->consume()), ' ';
    $bucket->block(4 * 31_557_600);
    echo $bucket->attempt()->getRetryAfter(), ' ';
    // If the clock is set back, a block lasts from then on as long as was asked for.
    TestClock::advance(-100);
    echo $bucket->attempt()->getRetryAfter(), ' ';
    $bucket->reset();
    $bucket->block(900);
    TestClock::advance(-100);
    echo $bucket->attempt()->getRetryAfter(), "\n";
    $bucket->reset();

    // A dry run counts what it would deny, and goes on.
    $dry = TokenBucket::per("$dsn?enforce=0", 'dry:x', 3, 30);
    $dry->block(60);
    $decision = $dry->attempt();
    echo json_encode([$decision->isAccepted(), $decision->wouldDeny(), $decision->getTokens(), $decision->getRetryAfter(), $dry->check()]), "\n";
}
?>
--EXPECT--
shm:
TokenBucket: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
LeakyBucket: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
FixedWindow: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
SlidingWindow: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
Compound: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
[true,false,false,false,0,50] 1 3 false
000true 900 true 111110
01 126230400 126230400 900
[true,true,1,0,false]
array:
TokenBucket: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
LeakyBucket: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
FixedWindow: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
SlidingWindow: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
Compound: 1 00000 [false,900,900,0,0,900,false] 1 300 300 400 0 1110 0 1110
[true,false,false,false,0,50] 1 3 false
000true 900 true 111110
01 126230400 126230400 900
[true,true,1,0,false]

