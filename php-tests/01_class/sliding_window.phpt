--TEST--
SlidingWindow: never more hits than its limit in any stretch of its interval, each for exactly as long
--INI--
token_bucket.warn_of_mistakes=0
--FILE--
<?php
use TokenBucket\{ArrayStorage, Compound, Decision, FixedWindow, LeakyBucket, Limiter, SlidingWindow, TestClock};
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);

function show(Decision $decision): void
{
    echo json_encode($decision), ' ', json_encode([$decision->getTokens(), $decision->getRetryAfterSeconds()]), "\n";
}
/** What is left of each limit. */
function left(Limiter ...$limiters): string
{
    return implode(' ', array_map(fn (Limiter $limiter): int => $limiter->peek(0)->getRemainingTokens(), $limiters));
}

foreach (['shm:', 'array:'] as $dsn) {
    echo $dsn, "\n";
    TestClock::freeze(1_000_000);
    $window = new SlidingWindow($dsn, 'login:192.0.2.1', 5, 6);
    // Two tries a second: the hits leave one by one, as they came.
    for ($second = 0; $second <= 13; $second++) {
        echo times(2, fn () => $window->consume()), ' ';
        TestClock::advance(1);
    }
    echo "\n";
    show($window->attempt());
    show($window->attempt());

    // A hit counts for its interval, to the nanosecond. A retry after getRetryAfter() is accepted.
    $window->reset();
    show($window->peek());
    foreach ([0.25, 1.5, 0.000000001] as $pause) {
        $window->consume();
        TestClock::advance($pause);
    }
    $window->consume(2);
    show($window->attempt());
    // More hits have to leave for more; a cost above the limit is never accepted, one of 0 always.
    echo implode(' ', array_map(fn (int $cost) => $window->attempt($cost)->getRetryAfter(), range(0, 6))), "\n";
    TestClock::advance($window->attempt()->getRetryAfter() - 0.000000001);
    echo times(1, fn () => $window->consume());
    TestClock::advance(0.000000001);
    echo times(2, fn () => $window->consume()), ' ', left($window), "\n";
    // Five at the end of what would be a fixed window: then none until they are six seconds old.
    $window->reset();
    TestClock::advance(5.999999999);
    echo times(6, fn () => $window->consume());
    TestClock::advance(0.000000001);
    echo times(2, fn () => $window->consume());
    TestClock::advance(5.999999998);
    echo times(2, fn () => $window->consume());
    TestClock::advance(0.000000001);
    echo times(6, fn () => $window->consume()), "\n";

    // A cost takes that many hits or none.
    $window->reset();
    echo json_encode([$window->consume(3), $window->consume(3), $window->consume(2), $window->consume(1), $window->consume(0), $window->consume(6)]), ' ', left($window), "\n";

    // refund() takes out the latest hits; Decision::refund() those of its own call, once.
    $window->reset();
    $first = $window->attempt(2);
    TestClock::advance(1);
    $second = $window->attempt(2);
    TestClock::advance(1);
    $window->refund();
    echo left($window), ' ', $window->attempt(3)->getRetryAfter(), ' ', $window->peek()->getResetAfter(), ', ';
    $window->refund(100);
    echo left($window), ' ', $window->peek()->getResetAfter(), ', ';
    $window->reset();
    [$first, $second] = [$window->attempt(2), [TestClock::advance(1), $window->attempt(2)][1]];
    echo json_encode([$first->refund(), $first->refund()]), ' ', left($window), ' ', $window->peek()->getResetAfter(), ' ';
    TestClock::advance(6);
    echo json_encode([$second->refund(), $window->attempt(6)->refund(), $window->peek()->refund(), $window->attempt(0)->refund()]), ' ', left($window), "\n";

    // A block denies all, then the window starts afresh; a reset lifts it.
    $window->consume(5);
    $window->block(2.5);
    show($window->attempt());
    $window->refund();
    TestClock::advance(2.499999999);
    echo times(1, fn () => $window->consume(0));
    TestClock::advance(0.000000001);
    echo times(6, fn () => $window->consume()), ' ';
    $window->block(100);
    $window->reset();
    echo times(6, fn () => $window->consume()), "\n";

    // The fields of HTTP.
    echo json_encode($window->attempt()->getHeaders()), "\n";

    // A clock that goes back: hits from the future count for one interval from now. One that goes forward ends them.
    $window->reset();
    $window->consume(5);
    TestClock::advance(-1_000);
    echo times(1, fn () => $window->consume()), ' ', $window->attempt()->getRetryAfter(), ' ';
    TestClock::advance(6);
    echo times(6, fn () => $window->consume()), ' ';
    TestClock::advance(1_000);
    echo times(6, fn () => $window->consume()), "\n";

    // A limit that is raised counts at once. Buckets and fixed windows on the same identifier are apart.
    $window->reset();
    $window->consume(5);
    echo times(4, fn () => (new SlidingWindow($dsn, 'login:192.0.2.1', 8, 6))->consume()), ' ';
    echo json_encode([(new TokenBucket($dsn, 'login:192.0.2.1', 1, 1))->consume(), (new FixedWindow($dsn, 'login:192.0.2.1', 1, 6))->consume(), (new FixedWindow($dsn, 'login:192.0.2.1', 1, 6))->consume(), $window->consume()]), "\n";
    // A longer interval: the hits that there are leave when they would have left.
    $window->reset();
    $window->consume(5);
    TestClock::advance(6);
    echo times(6, fn () => (new SlidingWindow($dsn, 'login:192.0.2.1', 5, 60))->consume()), ' ';
    // A shorter one: they count for one interval from the next call.
    echo (new SlidingWindow($dsn, 'login:192.0.2.1', 5, 6))->attempt()->getRetryAfter(), "\n";

    // The largest and the smallest.
    $large = new SlidingWindow($dsn, 'large:x', 1_024, 126_230_400);
    echo json_encode([$large->consume(1_000), $large->consume(25), $large->consume(24), $large->consume()]), ' ', $large->attempt()->getRetryAfter(), ' ';
    $large->refund(1_024);
    echo left($large), ' ';
    $small = new SlidingWindow($dsn, 'small:x', 1, 1e-9);
    echo times(2, fn () => $small->consume());
    TestClock::advance(1e-9);
    echo times(2, fn () => $small->consume()), "\n";

    // In a Compound: all or nothing, with limits of all kinds.
    $limits = [TokenBucket::per($dsn, 'bucket:x', 9, 90), $sliding = new SlidingWindow($dsn, 'sliding:x', 4, 60), new FixedWindow($dsn, 'fixed:x', 6, 60), new LeakyBucket($dsn, 'leaky:x', 8, 60)];
    $all = new Compound(...$limits);
    echo json_encode([$all->consume(3), $all->consume(2), $all->consume([1, 2, 1, 1])]), ' ', left(...$limits), ' ';
    $decision = $all->attempt(2);
    echo implode(' ', $decision->getDeniedBy()), ' ', $decision->getRetryAfter(), ' ', left(...$limits), ' ';
    $decision = $all->attempt();
    echo left(...$limits), ' ', json_encode([$decision->isAccepted(), $decision->refund(), $decision->refund()]), ' ', left(...$limits), ' ';
    $sliding->consume();
    $decision = $all->attempt();
    echo json_encode([$decision->getDeniedBy(), $decision->getLimit(), $decision->getRemainingTokens()]), ' ', left(...$limits), ' ';
    // The sliding window is the only one, the first, the last; twice on two identifiers.
    echo times(5, fn () => (new Compound(new SlidingWindow($dsn, 'only:x', 4, 60)))->consume()), ' ';
    $two = [new SlidingWindow($dsn, 'one:x', 3, 60), new SlidingWindow($dsn, 'two:x', 2, 60)];
    echo times(3, fn () => (new Compound(...$two))->consume()), ' ', left(...$two), ' ', times(2, fn () => (new Compound(...array_reverse($two)))->consume()), ' ', left(...$two), "\n";

    // A dry run denies none, and is charged what it has.
    $dry = new SlidingWindow("$dsn?enforce=0", 'dry:x', 2, 60);
    echo times(4, fn () => $dry->consume()), ' ';
    show($dry->attempt());
}
var_dump($window instanceof Limiter, $window, new SlidingWindow(new ArrayStorage, 'named', 5, 0.5, name: 'a name'));
?>
--EXPECTF--
shm:
11 11 10 00 00 00 11 11 10 00 00 00 11 11 
{"accepted":true,"limit":5,"remaining_tokens":0,"retry_after":0,"reset_after":6,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [1,0]
{"accepted":false,"limit":5,"remaining_tokens":0,"retry_after":4,"reset_after":6,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,4]
{"accepted":true,"limit":5,"remaining_tokens":5,"retry_after":0,"reset_after":0,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [0,0]
{"accepted":false,"limit":5,"remaining_tokens":0,"retry_after":4.249999999,"reset_after":6,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,5]
0 4.249999999 4.499999999 5.999999999 6 6 INF
010 0
1111100000111110
[true,false,true,false,true,false] 0
2 4 5, 5 0, [true,false] 3 6 [false,false,false,false] 5
{"accepted":false,"limit":5,"remaining_tokens":0,"retry_after":2.5,"reset_after":2.5,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,3]
0111110 111110
{"RateLimit-Policy":"\"login\";q=5;w=6","RateLimit":"\"login\";r=0;t=6","Retry-After":"6"}
0 6 111110 111110
1110 [true,true,false,false]
111110 6
[true,false,true,false] 126230400 1024 1010
[true,false,false] 6 1 3 5 sliding 60 6 1 3 5 5 0 2 4 [true,true,false] 6 1 3 5 [["sliding"],4,0] 6 0 3 5 11110 110 1 0 00 1 0
1111 {"accepted":true,"limit":2,"remaining_tokens":0,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [1,0]
array:
11 11 10 00 00 00 11 11 10 00 00 00 11 11 
{"accepted":true,"limit":5,"remaining_tokens":0,"retry_after":0,"reset_after":6,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [1,0]
{"accepted":false,"limit":5,"remaining_tokens":0,"retry_after":4,"reset_after":6,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,4]
{"accepted":true,"limit":5,"remaining_tokens":5,"retry_after":0,"reset_after":0,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [0,0]
{"accepted":false,"limit":5,"remaining_tokens":0,"retry_after":4.249999999,"reset_after":6,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,5]
0 4.249999999 4.499999999 5.999999999 6 6 INF
010 0
1111100000111110
[true,false,true,false,true,false] 0
2 4 5, 5 0, [true,false] 3 6 [false,false,false,false] 5
{"accepted":false,"limit":5,"remaining_tokens":0,"retry_after":2.5,"reset_after":2.5,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,3]
0111110 111110
{"RateLimit-Policy":"\"login\";q=5;w=6","RateLimit":"\"login\";r=0;t=6","Retry-After":"6"}
0 6 111110 111110
1110 [true,true,false,false]
111110 6
[true,false,true,false] 126230400 1024 1010
[true,false,false] 6 1 3 5 sliding 60 6 1 3 5 5 0 2 4 [true,true,false] 6 1 3 5 [["sliding"],4,0] 6 0 3 5 11110 110 1 0 00 1 0
1111 {"accepted":true,"limit":2,"remaining_tokens":0,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [1,0]
bool(true)
object(TokenBucket\SlidingWindow)#%d (3) {
  ["identifier"]=>
  string(15) "login:192.0.2.1"
  ["limit"]=>
  int(5)
  ["interval"]=>
  float(6)
}
object(TokenBucket\SlidingWindow)#%d (4) {
  ["identifier"]=>
  string(5) "named"
  ["limit"]=>
  int(5)
  ["interval"]=>
  float(0.5)
  ["name"]=>
  string(6) "a name"
}
