--TEST--
attempt(), peek(), takeUpTo(): a call that leaves tokens is denied before those for which they are left; also by its name in a file of limits, and in a Compound
--INI--
token_bucket.limits={PWD}/leave.limits.ini
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{Compound, FixedWindow, LeakyBucket, SlidingWindow, TestClock};
use function TokenBucket\limiter;
require dirname(__DIR__) . '/utils.inc';
// Other tests' denials would push out those that are looked for.
run_apart(__FILE__);

$kinds = [
    'TokenBucket' => fn (string $dsn, string $id) => TokenBucket::per($dsn, $id, 10, 100),
    'LeakyBucket' => fn (string $dsn, string $id) => new LeakyBucket($dsn, $id, 10, 100),
    'FixedWindow' => fn (string $dsn, string $id) => new FixedWindow($dsn, $id, 10, 100),
    'SlidingWindow' => fn (string $dsn, string $id) => new SlidingWindow($dsn, $id, 10, 100),
    'Compound' => fn (string $dsn, string $id) => new Compound(TokenBucket::per($dsn, $id, 10, 100), new FixedWindow($dsn, "second $id", 20, 100)),
];
foreach (['shm:', 'array:'] as $dsn) {
    foreach ($kinds as $kind => $make) {
        TestClock::freeze(1_000_000);
        $limiter = $make($dsn, "leave $kind");
        $limiter->reset();
        $steps = [];
        $show = fn ($decision): array => [$decision->isAccepted(), $decision->getTokens(), $decision->getRemainingTokens(), $decision->getRetryAfter()];
        $steps[] = $show($limiter->attempt(4, leave: 6));
        $steps[] = $show($limiter->attempt(1, leave: 6));
        $steps[] = $show($limiter->peek(1, leave: 6));
        $steps[] = $show($limiter->peek(0, leave: 6));
        $steps[] = $show($limiter->attempt(0, 7));
        $steps[] = $show($limiter->attempt(1, leave: 5));
        $steps[] = $show($limiter->attempt(5));
        TestClock::advance(30);
        $steps[] = $show($limiter->attempt(1, leave: 2));
        $steps[] = [$limiter->attempt(6, leave: 5)->getRetryAfterSeconds(), $limiter->attempt(1, PHP_INT_MAX)->getRetryAfterSeconds(), $limiter->attempt(1, 9)->getRetryAfterSeconds()];
        // What it took is settled as of any other call.
        $limiter->reset();
        $decision = $limiter->attempt(4, leave: 6);
        $steps[] = [$decision->settle(7), $limiter->peek(0)->getRemainingTokens()];
        echo "$kind: ", implode(' ', array_map(json_encode(...), $steps)), "\n";
    }
    $bucket = TokenBucket::per($dsn, 'leave up to', 10, 100);
    $bucket->reset();
    $tokens = fn (int ...$arguments): int => $bucket->takeUpTo(...$arguments)->getTokens();
    echo json_encode([$tokens(20, 1, 4), $tokens(5, 1, 4), $tokens(3, 1, 2), $tokens(3, 3, 1), $tokens(9)]), "\n";
}

// In a Compound: for each limit, or one for all.
[$first, $second] = [TokenBucket::per('array:', 'first', 10, 100), TokenBucket::per('array:', 'second', 20, 100)];
$both = new Compound($first, $second);
echo json_encode([
    $both->attempt(1, [9, 19])->isAccepted(), $both->attempt([1, 9], [8, 11])->getDeniedBy(), $both->attempt(1, 8)->isAccepted(), $both->attempt(1, 8)->isAccepted(),
    $first->peek()->getRemainingTokens(), $second->peek()->getRemainingTokens(),
]), "\n";

// Under another name, in a file.
$file = __DIR__ . '/leave.limits.ini';
file_put_contents($file, <<<'INI'
    [batch]
    like = api
    leave = 6
    [api]
    limit = 10
    interval = 100
    storage = "array:"
    [small]
    limit = 10
    interval = 100
    [small_batch]
    like = small
    leave = 6
    [report]
    all = batch day
    [day]
    algorithm = fixed_window
    limit = 50
    interval = 86400
    storage = "array:"
    leave = 45
    INI);
[$api, $batch, $report] = [limiter('api', 'x'), limiter('batch', 'x'), limiter('report', 'x')];
echo $batch::class, ' ', json_encode([$batch->consume(3), $batch->consume(2), $batch->attempt()->isAccepted(), $batch->attempt()->getDeniedBy(), $batch->peek()->isAccepted(), $batch->takeUpTo(5)->getTokens()]), ' ';
echo json_encode([$report->attempt()->isAccepted(), $api->consume(6)]), ' ';
$api->reset();
echo json_encode([$report->attempt(4)->isAccepted(), $report->attempt()->getDeniedBy(), $api->consume(5), limiter('day', 'x')->consume(2), limiter('day', 'x')->consume(1)]), ' ';
echo json_encode((new Compound($batch, limiter('day', 'x')))->attempt()->getDeniedBy()), "\n";
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/leave.limits.ini');
?>
--EXPECT--
TokenBucket: [true,4,6,0] [false,0,6,10] [false,0,6,10] [true,0,6,0] [false,0,6,10] [true,1,5,0] [true,5,0,0] [true,1,2,0] [null,null,80] [true,3]
LeakyBucket: [true,4,6,0] [false,0,6,10] [false,0,6,10] [true,0,6,0] [false,0,6,10] [true,1,5,0] [true,5,0,0] [true,1,2,0] [null,null,80] [true,3]
FixedWindow: [true,4,6,0] [false,0,6,100] [false,0,6,100] [true,0,6,0] [false,0,6,100] [true,1,5,0] [true,5,0,0] [false,0,0,70] [null,null,70] [true,3]
SlidingWindow: [true,4,6,0] [false,0,6,100] [false,0,6,100] [true,0,6,0] [false,0,6,100] [true,1,5,0] [true,5,0,0] [false,0,0,70] [null,null,70] [true,3]
Compound: [true,4,6,0] [false,0,6,10] [false,0,6,10] [true,0,6,0] [false,0,6,10] [true,1,5,0] [true,5,0,0] [true,1,2,0] [null,null,80] [true,3]
[6,0,2,0,2]
TokenBucket: [true,4,6,0] [false,0,6,10] [false,0,6,10] [true,0,6,0] [false,0,6,10] [true,1,5,0] [true,5,0,0] [true,1,2,0] [null,null,80] [true,3]
LeakyBucket: [true,4,6,0] [false,0,6,10] [false,0,6,10] [true,0,6,0] [false,0,6,10] [true,1,5,0] [true,5,0,0] [true,1,2,0] [null,null,80] [true,3]
FixedWindow: [true,4,6,0] [false,0,6,100] [false,0,6,100] [true,0,6,0] [false,0,6,100] [true,1,5,0] [true,5,0,0] [false,0,0,70] [null,null,70] [true,3]
SlidingWindow: [true,4,6,0] [false,0,6,100] [false,0,6,100] [true,0,6,0] [false,0,6,100] [true,1,5,0] [true,5,0,0] [false,0,0,70] [null,null,70] [true,3]
Compound: [true,4,6,0] [false,0,6,10] [false,0,6,10] [true,0,6,0] [false,0,6,10] [true,1,5,0] [true,5,0,0] [true,1,2,0] [null,null,80] [true,3]
[6,0,2,0,2]
[true,["default"],true,false,8,18]
TokenBucket [true,false,true,["batch"],false,0] [false,true] [true,["batch"],true,false,true] ["batch","day"]
