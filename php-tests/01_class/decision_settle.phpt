--TEST--
Decision: settle(): a call is charged what it cost in place of its estimate, once
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{ArrayStorage, Compound, FixedWindow, LeakyBucket, SharedMemoryStorage, SlidingWindow, TestClock};

$kinds = [
    'TokenBucket' => fn ($storage, string $id) => TokenBucket::per($storage, $id, 10, 100),
    'LeakyBucket' => fn ($storage, string $id) => new LeakyBucket($storage, $id, 10, 100),
    'FixedWindow' => fn ($storage, string $id) => new FixedWindow($storage, $id, 10, 100),
    'SlidingWindow' => fn ($storage, string $id) => new SlidingWindow($storage, $id, 10, 100),
    'Compound' => fn ($storage, string $id) => new Compound(TokenBucket::per($storage, $id, 10, 100), new FixedWindow($storage, "second $id", 20, 100)),
];
foreach ([new SharedMemoryStorage('shm:'), new ArrayStorage] as $storage) {
    echo $storage::class, "\n";
    foreach ($kinds as $kind => $make) {
        TestClock::freeze(1_000_000);
        $limiter = $make($storage, "$kind of " . __FILE__);
        $limiter->reset();
        $left = fn (): int => $limiter->peek(0)->getRemainingTokens();
        $steps = [];
        // Less, as much, more; once each.
        [$less, $same, $more] = [$limiter->attempt(5), $limiter->attempt(1), $limiter->attempt(1)];
        $steps[] = [$less->settle(2), $left(), $less->settle(0), $less->refund(), $left(), $same->settle(1), $left(), $more->settle(3), $left(), $more->settle(9), $left()];
        // The decision tells what is left, and stays accepted.
        $steps[] = [$more->isAccepted(), $more->getRemainingTokens(), $less->getRemainingTokens(), $more->getRetryAfter()];
        // More than there is: later calls wait for it.
        $over = $limiter->attempt(1);
        $steps[] = [$over->settle(6), $left(), $over->getHeaders()['RateLimit'], $limiter->attempt(1)->getRetryAfter(), $limiter->attempt(11)->getRetryAfterSeconds()];
        TestClock::advance(11);
        $steps[] = [$limiter->attempt(1)->isAccepted()];
        // Far more: what is beyond one capacity below empty is forgotten.
        $limiter->reset();
        $limiter->attempt(1)->settle(PHP_INT_MAX);
        $steps[] = [$limiter->peek(1)->getRetryAfter(), $limiter->peek(10)->getRetryAfter()];
        // A denied call and a peek took nothing; a call that estimated nothing is charged.
        $steps[] = [$limiter->attempt(3)->settle(5), $limiter->peek(1)->settle(5), $limiter->attempt(0)->settle(5), $limiter->peek(1)->getRetryAfter()];
        // A block denies it.
        $limiter->reset();
        $decision = $limiter->attempt(1);
        $limiter->block(50);
        $steps[] = [$decision->settle(5), $limiter->peek(0)->isAccepted()];
        $limiter->reset();
        echo $kind, ': ', implode(' ', array_map(json_encode(...), $steps)), "\n";
    }
}

// In a Compound: one number for all limits, or one for each.
$first = new TokenBucket('array:', 'first', 10, 1);
$second = new FixedWindow('array:', 'second', 100, 60);
$both = new Compound($first, $second);
$left = fn (): array => [$first->peek()->getRemainingTokens(), $second->peek()->getRemainingTokens()];
$both->attempt([2, 50])->settle([1, 70]);
echo json_encode($left());
$both->attempt([2, 2])->settle(1);
echo json_encode($left());
$both->attempt(1)->settle([0, 1]);
echo json_encode($left()), "\n";

// The other calls that take, a dry run, and what a failed store never took.
$bucket = new TokenBucket('array:', 'others', 10, 1);
$bucket->takeUpTo(4)->settle(6);
echo $bucket->peek()->getRemainingTokens(), ' ';
$bucket->reserve(6)->settle(5);
echo $bucket->peek()->getRetryAfter(), ' ';
$dry = new TokenBucket('array:?enforce=0', 'dry', 10, 1);
echo json_encode([$dry->attempt(8)->settle(9), $dry->attempt(8)->settle(20), $dry->peek()->getRemainingTokens()]), ' ';
$open = new TokenBucket('redis://127.0.0.1:1?on_error=open', 'x', 10, 1);
echo json_encode((@$open->attempt())->settle(5)), "\n";
?>
--EXPECT--
TokenBucket\SharedMemoryStorage
TokenBucket: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=30",30,null] [false] [110,200] [false,false,true,110] [false,false]
LeakyBucket: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=30",30,null] [false] [110,200] [false,false,true,110] [false,false]
FixedWindow: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=100",100,null] [false] [100,100] [false,false,true,100] [false,false]
SlidingWindow: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=100",100,null] [false] [100,100] [false,false,true,100] [false,false]
Compound: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=30, \"default\";r=8;t=100",30,null] [false] [110,200] [false,false,true,110] [false,false]
TokenBucket\ArrayStorage
TokenBucket: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=30",30,null] [false] [110,200] [false,false,true,110] [false,false]
LeakyBucket: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=30",30,null] [false] [110,200] [false,false,true,110] [false,false]
FixedWindow: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=100",100,null] [false] [100,100] [false,false,true,100] [false,false]
SlidingWindow: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=100",100,null] [false] [100,100] [false,false,true,100] [false,false]
Compound: [true,6,false,false,6,true,6,true,4,false,4] [true,4,6,0] [true,0,"\"default\";r=0;t=30, \"default\";r=8;t=100",30,null] [false] [110,200] [false,false,true,110] [false,false]
[9,30][8,29][8,28]
4 2 [true,false,1] false
