--TEST--
FirstOf: the first limit that accepts all of the cost is charged, and no other; a denial is that of the limit that accepts soonest, and names all
--INI--
token_bucket.limits={PWD}/first_of.limits.ini
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{CalendarWindow, FirstOf, FixedWindow, LeakyBucket, Limiter, SlidingWindow, TestClock};
use function TokenBucket\{limiter, statistics};
require dirname(__DIR__) . '/utils.inc';
run_apart(__FILE__);

$left = fn (Limiter ...$limiters): string => implode('+', array_map(fn (Limiter $limiter): int => $limiter->peek(0)->getRemainingTokens(), $limiters));
foreach (['shm:', 'array:'] as $dsn) {
    TestClock::freeze(1_000_000);
    $quota = new FixedWindow($dsn, 'quota:x', 3, 60);
    $pool = TokenBucket::per($dsn, 'pool:x', 4, 40);
    $credits = new SlidingWindow($dsn, 'credits:x', 2, 100, 'bought');
    $limits = new FirstOf($quota, $pool, $credits);
    $limits->reset();
    $show = fn ($decision): string => json_encode([$decision->isAccepted(), $decision->getTokens(), $decision->getLimit(), $decision->getRemainingTokens(), $decision->getRetryAfterSeconds(), $decision->getChargedTo(), $decision->getDeniedBy()]);
    foreach ([2, 2, 1, 0, 2, 3, 2, 1, 5, 0] as $cost) {
        $peek = json_decode($show($limits->peek($cost)));
        echo "$cost: ", $show($decision = $limits->attempt($cost)), ' ', $left($quota, $pool, $credits);
        $attempt = json_decode($show($decision));
        unset($peek[1], $peek[3], $peek[5], $attempt[1], $attempt[3], $attempt[5]);
        echo $peek === $attempt ? '' : ' peek() differs: ' . json_encode($peek), "\n";
    }
    echo json_encode([$limits->consume(), $limits->refund(), $limits->attempt()->getHeaders(), $limits->attempt()->getProblem()['violated-policies']]), "\n";
    thrown(fn () => $limits->attempt()->ensureAccepted());
    // What comes back first is charged first, in the order of the limits.
    TestClock::advance(20);
    echo $show($limits->attempt()), ' ';
    TestClock::advance(40);
    echo $show($limits->attempt()), "\n";

    // What a call took is settled and given back where it was charged; the object's refund() goes where it was charged last.
    $limits->reset();
    $first = $limits->attempt(3);
    $second = $limits->attempt(2);
    echo $left($quota, $pool, $credits), ' ', json_encode([$second->settle(4), $second->getRemainingTokens(), $first->refund(), $first->refund()]), ' ', $left($quota, $pool, $credits), ' ';
    echo json_encode([$limits->refund(), $limits->refund(0), $limits->attempt(3)->settle([5]), $limits->attempt(9)->settle(0), (new FirstOf($quota, $pool))->refund()]), ' ', $left($quota, $pool, $credits), "\n";

    // What is left for others, and blocks.
    $limits->reset();
    echo json_encode([$limits->attempt(1, leave: 3)->getChargedTo(), $limits->attempt(1, leave: 2)->getChargedTo(), $limits->peek(1, 9)->getRetryAfterSeconds(), $limits->attempt(1, 9)->isAccepted()]), ' ', $left($quota, $pool, $credits), ' ';
    $quota->block(7);
    echo json_encode([$limits->attempt()->getChargedTo()]), ' ';
    $limits->block(10);
    $decision = $limits->attempt();
    echo json_encode([$decision->isAccepted(), $decision->getRetryAfter(), $limits->attempt(0)->getDeniedBy()]), ' ';
    TestClock::advance(10);
    echo json_encode($limits->attempt(0)->isAccepted()), "\n";
}

// A month's quota, then credits: the month has its boundary, also in an object that has seen the last one.
TestClock::freeze((new DateTimeImmutable('2024-01-31 23:00 UTC'))->getTimestamp());
$plan = new FirstOf(new CalendarWindow('array:', 'month:y', 2, 'month'), new LeakyBucket('array:', 'credits:y', 2, 1e8));
$charged = fn (): string => implode($plan->attempt()->getChargedTo()) ?: 'none';
echo implode(' ', [$charged(), $charged(), $charged()]), ', ';
TestClock::advance(3_600);
echo implode(' ', [$charged(), $charged(), $charged(), $charged()]), "\n";

// A limit in a dry run is charged if it accepts; if no limit accepts, it lets the call go on.
foreach ([['?enforce=0', ''], ['', '?enforce=0'], ['?enforce=0', '?enforce=0']] as $n => [$first, $second]) {
    $dry = new FirstOf(TokenBucket::per("array:$first", "a$n:z", 1, 60), TokenBucket::per("array:$second", "b$n:z", 1, 1000));
    echo json_encode(array_map(function () use ($dry): array {
        $decision = $dry->attempt();
        return [$decision->isAccepted(), $decision->wouldDeny(), $decision->getChargedTo(), $decision->getDeniedBy(), $decision->getLimit()];
    }, [1, 2, 3])), "\n";
}

// Counted for the limit that is charged; a denied call for each.
foreach (['quota', 'pool', 'bought', 'a0', 'b0'] as $name) {
    $counts = statistics()[$name];
    echo "$name: $counts[checked] checked, $counts[accepted] accepted, $counts[denied] denied, $counts[would_deny] would be\n";
}

// A limit whose server is down is passed over, and counted as answered by on_error.
$down = new FirstOf(TokenBucket::per('redis://127.0.0.1:1?on_error=closed', 'down:z', 1, 60), TokenBucket::per('array:', 'up:z', 9, 60));
echo array_sum(array_map(fn (): int => (int) @$down->consume(), [1, 2, 3])), ' accepted, ', statistics()['down']['degraded'], " answered by on_error\n";

// By name, in a file.
$file = __DIR__ . '/first_of.limits.ini';
file_put_contents($file, <<<'INI'
    [plan]
    first = included credits
    [included]
    limit = 2
    interval = 60
    leave = 1
    storage = array:
    [credits]
    algorithm = fixed_window
    limit = 1
    interval = 600
    storage = array:
    INI);
$plan = limiter('plan', 'customer');
echo $plan::class, ' ', json_encode(array_map(fn () => $plan->attempt()->getChargedTo(), [1, 2, 3])), ' ';
echo json_encode(limiter('plan', ['credits' => 'other', 'included' => 'customer'])->attempt()->getChargedTo()), ' ', $left(limiter('included', 'customer'), limiter('credits', 'other')), "\n";
echo json_encode(TokenBucket\status()['named_limits']['plan']), "\n";
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/first_of.limits.ini');
?>
--EXPECT--
2: [true,2,3,1,0,["quota"],[]] 1+4+2
2: [true,2,4,2,0,["pool"],[]] 1+2+2
1: [true,1,3,0,0,["quota"],[]] 0+2+2
0: [true,0,3,0,0,[],[]] 0+2+2
2: [true,2,4,0,0,["pool"],[]] 0+0+2
3: [false,0,4,0,30,[],["quota","pool","bought"]] 0+0+2
2: [true,2,2,0,0,["bought"],[]] 0+0+0
1: [false,0,4,0,10,[],["quota","pool","bought"]] 0+0+0
5: [false,0,3,0,null,[],["quota","pool","bought"]] 0+0+0
0: [true,0,3,0,0,[],[]] 0+0+0
[false,true,{"RateLimit-Policy":"\"bought\";q=2;w=100","RateLimit":"\"bought\";r=0;t=100"},["quota","pool","bought"]]
TokenBucket\LimitExceededException: Denied by quota, pool, bought. Try again in 10 seconds.
[true,1,4,1,0,["pool"],[]] [true,1,3,2,0,["quota"],[]]
0+2+2 [true,0,true,false] 3+0+2 [true,true,true,false,false] 0+1+2
[["pool"],["quota"],null,false] 2+3+2 [["pool"]] [false,10,["quota","pool","bought"]] true
2: [true,2,3,1,0,["quota"],[]] 1+4+2
2: [true,2,4,2,0,["pool"],[]] 1+2+2
1: [true,1,3,0,0,["quota"],[]] 0+2+2
0: [true,0,3,0,0,[],[]] 0+2+2
2: [true,2,4,0,0,["pool"],[]] 0+0+2
3: [false,0,4,0,30,[],["quota","pool","bought"]] 0+0+2
2: [true,2,2,0,0,["bought"],[]] 0+0+0
1: [false,0,4,0,10,[],["quota","pool","bought"]] 0+0+0
5: [false,0,3,0,null,[],["quota","pool","bought"]] 0+0+0
0: [true,0,3,0,0,[],[]] 0+0+0
[false,true,{"RateLimit-Policy":"\"bought\";q=2;w=100","RateLimit":"\"bought\";r=0;t=100"},["quota","pool","bought"]]
TokenBucket\LimitExceededException: Denied by quota, pool, bought. Try again in 10 seconds.
[true,1,4,1,0,["pool"],[]] [true,1,3,2,0,["quota"],[]]
0+2+2 [true,0,true,false] 3+0+2 [true,true,true,false,false] 0+1+2
[["pool"],["quota"],null,false] 2+3+2 [["pool"]] [false,10,["quota","pool","bought"]] true
month month credits, month month credits none
[[true,false,["a0"],[],1],[true,false,["b0"],[],1],[true,true,[],[],1]]
[[true,false,["a1"],[],1],[true,false,["b1"],[],1],[true,true,[],[],1]]
[[true,false,["a2"],[],1],[true,false,["b2"],[],1],[true,true,[],[],1]]
quota: 38 checked, 18 accepted, 20 denied, 0 would be
pool: 32 checked, 12 accepted, 20 denied, 0 would be
bought: 24 checked, 4 accepted, 20 denied, 0 would be
a0: 2 checked, 2 accepted, 0 denied, 1 would be
b0: 1 checked, 1 accepted, 0 denied, 0 would be
3 accepted, 3 answered by on_error
TokenBucket\FirstOf [["included"],["credits"],[]] ["credits"] 1+0
{"first":["included","credits"]}
