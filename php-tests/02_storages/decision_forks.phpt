--TEST--
Decision: refund() gives back in the process that made the decision, and not in its children
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require dirname(__DIR__) . '/processes.inc';
use TokenBucket\{Compound, FixedWindow, LeakyBucket, SlidingWindow, TestClock};

TestClock::freeze(1_000_000);
$kinds = [
    'TokenBucket' => fn (string $dsn) => TokenBucket::per($dsn, 'x', 50, 100),
    'LeakyBucket' => fn (string $dsn) => new LeakyBucket($dsn, 'leaky', 50, 100),
    'FixedWindow' => fn (string $dsn) => new FixedWindow($dsn, 'x', 50, 100),
    'SlidingWindow' => fn (string $dsn) => new SlidingWindow($dsn, 'x', 50, 100),
    'Compound' => fn (string $dsn) => new Compound(TokenBucket::per($dsn, 'y', 50, 100), new FixedWindow($dsn, 'y', 50, 100)),
];
foreach (['shm:forks', 'array:'] as $dsn) {
    foreach ($kinds as $kind => $make) {
        $limiter = $make($dsn);
        $left = fn (): int => $limiter->peek(0)->getRemainingTokens();
        $limiter->consume(40);
        $decision = $limiter->attempt(10);
        $children = in_processes(4, function () use ($limiter, $decision, $left): string {
            $inherited = [$decision->refund(), $decision->refund(), $left()];
            return json_encode([...$inherited, $decision->isAccepted(), $decision->getTokens()]);
        });
        echo "$dsn $kind: ", implode(' ', array_unique($children)), ', parent ', json_encode([$decision->refund(), $left(), $decision->refund(), $left()]), "\n";
        // A child gives back what it took itself, and its own child does not.
        [$child] = in_processes(1, function () use ($limiter, $left): string {
            $own = $limiter->attempt(5);
            [$grandchild] = in_processes(1, fn () => json_encode([$own->refund(), $left()]));
            return "$grandchild, child " . json_encode([$own->refund(), $left(), $own->refund()]);
        });
        echo "    grandchild $child, parent ", json_encode([$left()]), "\n";
    }
}
?>
--EXPECT--
shm:forks TokenBucket: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
shm:forks LeakyBucket: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
shm:forks FixedWindow: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
shm:forks SlidingWindow: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
shm:forks Compound: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
array: TokenBucket: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
array: LeakyBucket: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
array: FixedWindow: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
array: SlidingWindow: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
array: Compound: [false,false,0,true,10], parent [true,10,false,10]
    grandchild [false,5], child [true,10,false], parent [10]
