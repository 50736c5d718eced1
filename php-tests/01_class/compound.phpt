--TEST--
Compound: charges all limits or none, and describes the strictest
--FILE--
<?php
use TokenBucket\{ArrayStorage, Compound, Decision, FixedWindow, LeakyBucket, Limiter, TestClock};
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);

/** What is left of each limit. */
function left(Limiter ...$limiters): string
{
    return implode(' ', array_map(fn (Limiter $limiter): int => $limiter->peek(0)->getRemainingTokens(), $limiters));
}
function show(Decision $decision): void
{
    echo json_encode($decision), ' ', json_encode([$decision->getTokens(), $decision->getDeniedBy()]), "\n";
}

foreach (['shm:', 'array:'] as $dsn) {
    echo $dsn, "\n";
    TestClock::freeze(1_000_000);
    $limits = [
        $bucket = TokenBucket::per($dsn, 'bucket:x', 10, 100),
        $leaky = new LeakyBucket($dsn, 'leaky:x', 6, 30),
        $window = new FixedWindow($dsn, 'window:x', 4, 60),
        $other = TokenBucket::per('shm:other', 'other:x', 20, 20),
    ];
    $all = new Compound(...$limits);
    $nested = new Compound(new Compound($bucket, new Compound($leaky)), new Compound($window, $other));
    var_dump($all instanceof Limiter, $all == $nested);
    show($all->peek());
    show($all->attempt());
    show($nested->attempt(2));
    echo left(...$limits), "\n";
    // The window has one hit left: it denies two, and no limit is charged.
    show($all->attempt(2));
    echo json_encode($nested->consume(2)), ' ', left(...$limits), "\n";
    // The last one; then the window denies.
    echo json_encode([$all->consume(), $all->consume(), $all->consume(0)]), ' ', left(...$limits), "\n";
    // More than one denies: the longest time to retry; never counts as the longest.
    show($all->attempt(5));
    show($all->attempt(9));
    // A number for each, in their order, also of nested ones.
    TestClock::advance(61);
    show($all->attempt([1, 2, 3, 4]));
    show($nested->attempt([1, 2, 3, 4]));
    echo json_encode([$nested->consume([0, 0, 1, 0]), $nested->consume([10, 0, 0, 0]), $nested->consume([9, 0, 0, 20]), $nested->consume([9, 4, 0, 20])]), ' ', left(...$limits), "\n";
    echo json_encode($all->peek([0, 0, 1, 0])->getDeniedBy()), ' ', json_encode($all->peek([1, 0, 0, 0])->getDeniedBy()), "\n";
    $all->refund([1, 2, 3, 4]);
    echo left(...$limits), ' ';
    $all->refund(2);
    echo left(...$limits), ' ';
    $all->refund(1_000);
    echo left(...$limits), ' ';
    $all->consume(3);
    $nested->reset();
    echo left(...$limits), "\n";

    // A decision gives back to all limits, once.
    $decision = $all->attempt([4, 3, 2, 1]);
    echo left(...$limits), ' ', json_encode([$decision->getTokens(), $decision->refund(), $decision->refund(), $all->attempt(5)->refund()]), ' ', left(...$limits), "\n";

    // A limit by itself still works; blocks and resets are of each.
    $window->block(100);
    echo json_encode([$all->consume(0), $all->attempt(0)->getRetryAfter(), $all->attempt()->getDeniedBy()]), ' ', left($bucket, $leaky, $other), "\n";
    $window->reset();
    $all->block(10);
    echo times(1, fn () => $bucket->consume(0)), times(1, fn () => $leaky->consume(0)), times(1, fn () => $window->consume(0)), times(1, fn () => $other->consume(0)), ' ';
    $all->reset();
    echo times(1, fn () => $bucket->consume(0)), times(1, fn () => $leaky->consume(0)), times(1, fn () => $window->consume(0)), times(1, fn () => $other->consume(0)), ' ', left(...$limits), "\n";

    // In every order: what denies is not the first, in the middle, or the last only.
    $small = new FixedWindow($dsn, 'small:x', 1, 60);
    $small->consume();
    for ($i = 0, $rest = $limits; $i < 5; $i++) {
        $order = [...array_slice($limits, 0, $i), $small, ...array_slice($limits, $i)];
        $compound = new Compound(...$order);
        echo json_encode([$compound->consume(), $compound->attempt()->getDeniedBy(), $compound->attempt(0)->isAccepted()]), ' ', left(...$order), ' ';
    }
    echo "\n";

    // A dry run never denies for the others, and is charged only what it has.
    $dry = new FixedWindow("$dsn?enforce=0", 'dry:x', 2, 60);
    foreach ([[$dry, $leaky], [$leaky, $dry]] as $order) {
        $leaky->reset();
        $dry->reset();
        $compound = new Compound(...$order);
        for ($i = 0; $i < 4; $i++) {
            $decision = $compound->attempt(2);
            echo json_encode([$decision->isAccepted(), $decision->wouldDeny(), $decision->getTokens(), $decision->getRetryAfter(), $decision->getDeniedBy()]), ' ', left(...$order), ' ';
        }
        // Denied by the other: the dry run is not charged.
        $dry->reset();
        echo json_encode($compound->consume(1)), ' ', left(...$order), "\n";
    }
}

// Sixteen limits; the same identifier as a bucket and as a window; on two storages.
$sixteen = array_map(fn (int $i) => TokenBucket::per($i % 2 ? 'array:' : 'shm:', "sixteen:$i", 10 + $i, 60), range(1, 16));
$compound = new Compound(...$sixteen);
echo times(12, fn () => $compound->consume()), ' ', left(...$sixteen), ' ', count(explode(', ', $compound->attempt(0)->getHeaders()['RateLimit'])), "\n";
$same = new Compound(TokenBucket::per('array:', 'same:x', 2, 60), new FixedWindow('array:', 'same:x', 3, 60), TokenBucket::per('shm:', 'same:x', 4, 60), TokenBucket::per('array:?prefix=other:', 'same:x', 5, 60));
echo times(3, fn () => $same->consume()), "\n";

// It keeps the limits that it was made of.
$bucket = new TokenBucket('array:', 'kept:x', 2, 1);
$kept = new Compound($bucket);
$bucket->__construct('array:', 'kept:y', 9, 1);
echo $kept->peek()->getLimit(), ' ';
$kept->consume(2);
unset($bucket);
echo json_encode($kept->consume()), ' ', (new TokenBucket('array:', 'kept:x', 2, 1))->peek()->getRemainingTokens(), "\n";
// A second construction replaces the limits; one that fails does not.
$kept->__construct(new FixedWindow('array:', 'again:x', 1, 60));
thrown(fn () => $kept->__construct());
echo times(2, fn () => $kept->consume()), "\n";
// What an extending class overrides is not called: its limit is charged, not its method.
$never = new class('array:', 'never:x', 2, 1) extends TokenBucket {
    public function consume(int $token_count = 1): bool
    {
        return false;
    }
};
echo times(3, fn () => (new Compound($never))->consume()), "\n";

// Counted are the limits that are charged or that deny.
$a = TokenBucket::per('array:', 'count-a:x', 5, 60);
$b = new FixedWindow('array:', 'count-b:x', 2, 60);
$c = new FixedWindow('array:?enforce=0', 'count-c:x', 1, 60);
foreach ([new Compound($a, $b, $c), new Compound($c, $b, $a)] as $compound) {
    times(2, fn () => $compound->consume());
    $decision = $compound->attempt();
    $compound->peek();
    $compound->refund(0);
}
$a->reset();
$b->reset();
$b->consume(2);
$a->block(5);
(new Compound($a, $b))->consume();
var_dump(new Compound($a, new Compound($b, $c)));
?>
--EXPECTF--
shm:
bool(true)
bool(false)
{"accepted":true,"limit":4,"remaining_tokens":4,"retry_after":0,"reset_after":0,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [0,[]]
{"accepted":true,"limit":4,"remaining_tokens":3,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [1,[]]
{"accepted":true,"limit":4,"remaining_tokens":1,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [2,[]]
7 3 1 17
{"accepted":false,"limit":4,"remaining_tokens":1,"retry_after":60,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["window"]]
false 7 3 1 17
[true,false,true] 6 2 0 16
{"accepted":false,"limit":4,"remaining_tokens":0,"retry_after":null,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["leaky","window"]]
{"accepted":false,"limit":4,"remaining_tokens":0,"retry_after":null,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["bucket","leaky","window"]]
{"accepted":true,"limit":4,"remaining_tokens":1,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [1,[]]
{"accepted":false,"limit":4,"remaining_tokens":1,"retry_after":60,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["window"]]
[true,false,false,false] 9 4 0 16
["window"] []
10 6 3 20 10 6 4 20 10 6 4 20 10 6 4 20
6 3 2 19 [1,true,false,false] 10 6 4 20
[false,100,["window"]] 10 6 20
0000 1111 10 6 4 20
[false,["small"],true] 0 10 6 4 20 [false,["small"],true] 10 0 6 4 20 [false,["small"],true] 10 6 0 4 20 [false,["small"],true] 10 6 4 0 20 [false,["small"],true] 10 6 4 20 0 
[true,false,2,0,[]] 0 4 [true,true,2,0,[]] 0 2 [true,true,2,0,[]] 0 0 [false,true,0,10,["leaky"]] 0 0 false 2 0
[true,false,2,0,[]] 4 0 [true,true,2,0,[]] 2 0 [true,true,2,0,[]] 0 0 [false,true,0,10,["leaky"]] 0 0 false 0 2
array:
bool(true)
bool(false)
{"accepted":true,"limit":4,"remaining_tokens":4,"retry_after":0,"reset_after":0,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [0,[]]
{"accepted":true,"limit":4,"remaining_tokens":3,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [1,[]]
{"accepted":true,"limit":4,"remaining_tokens":1,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [2,[]]
7 3 1 17
{"accepted":false,"limit":4,"remaining_tokens":1,"retry_after":60,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["window"]]
false 7 3 1 17
[true,false,true] 6 2 0 16
{"accepted":false,"limit":4,"remaining_tokens":0,"retry_after":null,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["leaky","window"]]
{"accepted":false,"limit":4,"remaining_tokens":0,"retry_after":null,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["bucket","leaky","window"]]
{"accepted":true,"limit":4,"remaining_tokens":1,"retry_after":0,"reset_after":60,"wait":0,"degraded":false,"would_deny":false,"exempt":false} [1,[]]
{"accepted":false,"limit":4,"remaining_tokens":1,"retry_after":60,"reset_after":60,"wait":0,"degraded":false,"would_deny":true,"exempt":false} [0,["window"]]
[true,false,false,false] 9 4 0 16
["window"] []
10 6 3 20 10 6 4 20 10 6 4 20 10 6 4 20
6 3 2 19 [1,true,false,false] 10 6 4 20
[false,100,["window"]] 10 6 20
0000 1111 10 6 4 20
[false,["small"],true] 0 10 6 4 20 [false,["small"],true] 10 0 6 4 20 [false,["small"],true] 10 6 0 4 20 [false,["small"],true] 10 6 4 0 20 [false,["small"],true] 10 6 4 20 0 
[true,false,2,0,[]] 0 4 [true,true,2,0,[]] 0 2 [true,true,2,0,[]] 0 0 [false,true,0,10,["leaky"]] 0 0 false 2 0
[true,false,2,0,[]] 4 0 [true,true,2,0,[]] 2 0 [true,true,2,0,[]] 0 0 [false,true,0,10,["leaky"]] 0 0 false 0 2
111111111110 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
110
2 false 0
ArgumentCountError: TokenBucket\Compound::__construct() expects at least 1 argument, 0 given
10
110
object(TokenBucket\Compound)#%d (1) {
  ["limiters"]=>
  array(3) {
    [0]=>
    array(3) {
      ["identifier"]=>
      string(9) "count-a:x"
      ["bucket_capacity"]=>
      int(5)
      ["tokens_per_second"]=>
      float(0.08333333333333333)
    }
    [1]=>
    array(3) {
      ["identifier"]=>
      string(9) "count-b:x"
      ["limit"]=>
      int(2)
      ["interval"]=>
      float(60)
    }
    [2]=>
    array(3) {
      ["identifier"]=>
      string(9) "count-c:x"
      ["limit"]=>
      int(1)
      ["interval"]=>
      float(60)
    }
  }
}
