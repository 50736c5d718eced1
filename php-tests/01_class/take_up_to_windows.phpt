--TEST--
LeakyBucket, FixedWindow, SlidingWindow: takeUpTo() takes what there is room for, if that is enough
--INI--
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{Decision, FixedWindow, LeakyBucket, SlidingWindow, TestClock};
require __DIR__ . '/../utils.inc';

$show = fn (Decision $decision) => json_encode([$decision->isAccepted(), $decision->getTokens(), $decision->getRemainingTokens(), $decision->getRetryAfterSeconds()]);
foreach (['shm:', 'array:', 'array:?enforce=0'] as $dsn) {
    foreach ([LeakyBucket::class, FixedWindow::class, SlidingWindow::class] as $class) {
        TestClock::freeze(1_000_000);
        $limit = new $class($dsn, __FILE__ . $dsn, 10, 20);
        echo substr($class, 12), ": {$show($limit->takeUpTo(4))} {$show($last = $limit->takeUpTo(8, 3))} {$show($limit->takeUpTo(2))} {$show($limit->takeUpTo(11, 11))}\n";
        // What was taken is given back, not what was asked for.
        echo '    given back ', json_encode($last->refund()), ", left {$limit->peek()->getRemainingTokens()}";
        TestClock::advance(20);
        echo ", later {$show($limit->takeUpTo(PHP_INT_MAX, 10))}";
        // A batch without entries asks for nothing, which an empty limit has. A block denies it, as any call.
        echo ", nothing {$show($limit->takeUpTo(count([])))}{$show($limit->takeUpTo(0, leave: 1))}";
        $limit->block(5);
        echo "{$show($limit->takeUpTo(0))}\n";
    }
}
// In advance from a leaky bucket, which is a token bucket that counts the other way.
$leaky = new LeakyBucket(new TokenBucket\ArrayStorage, 'reserve', 2, 10);
$leaky->consume(2);
$reserved = $leaky->reserve(maxWait: 5);
echo $reserved->getWait(), ' ', json_encode([$reserved->wait(), $leaky->reserve(2, 9.0)->isAccepted(), $leaky->reserve(3)->isAccepted()]), "\n";
thrown(
    fn () => $leaky->reserve(-1),
    fn () => $leaky->reserve(1, -1),
    fn () => $leaky->takeUpTo(-1),
    fn () => $limit->takeUpTo(2, 3),
    fn () => $limit->reserve(),
);
?>
--EXPECT--
LeakyBucket: [true,4,6,0] [true,6,0,0] [false,0,0,2] [false,0,0,null]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][false,0,0,2][false,0,0,5]
FixedWindow: [true,4,6,0] [true,6,0,0] [false,0,0,20] [false,0,0,null]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][false,0,0,20][false,0,0,5]
SlidingWindow: [true,4,6,0] [true,6,0,0] [false,0,0,20] [false,0,0,null]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][false,0,0,20][false,0,0,5]
LeakyBucket: [true,4,6,0] [true,6,0,0] [false,0,0,2] [false,0,0,null]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][false,0,0,2][false,0,0,5]
FixedWindow: [true,4,6,0] [true,6,0,0] [false,0,0,20] [false,0,0,null]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][false,0,0,20][false,0,0,5]
SlidingWindow: [true,4,6,0] [true,6,0,0] [false,0,0,20] [false,0,0,null]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][false,0,0,20][false,0,0,5]
LeakyBucket: [true,4,6,0] [true,6,0,0] [true,2,0,0] [true,11,0,0]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][true,0,0,0][true,0,0,0]
FixedWindow: [true,4,6,0] [true,6,0,0] [true,2,0,0] [true,11,0,0]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][true,0,0,0][true,0,0,0]
SlidingWindow: [true,4,6,0] [true,6,0,0] [true,2,0,0] [true,11,0,0]
    given back true, left 6, later [true,10,0,0], nothing [true,0,0,0][true,0,0,0][true,0,0,0]
5 [true,false,false]
ValueError: TokenBucket\LeakyBucket::reserve(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket\LeakyBucket::reserve(): Argument #2 ($maxWait) must be greater than or equal to 0
ValueError: TokenBucket\LeakyBucket::takeUpTo(): Argument #1 ($most) must be greater than or equal to 0
ValueError: TokenBucket\SlidingWindow::takeUpTo(): Argument #2 ($least) must be between 1 and $most
Error: Call to undefined method TokenBucket\SlidingWindow::reserve()
