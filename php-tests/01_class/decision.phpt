--TEST--
Decision: reports the remaining tokens and the time to retry
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\Decision;
use TokenBucket\TestClock;

function show(Decision $d): void
{
    echo (int) $d->isAccepted(), ' limit ', $d->getLimit(), ' left ', $d->getRemainingTokens(), ' retry ', $d->getRetryAfter(),
        ' reset ', $d->getResetAfter(), ' wait ', $d->getWait(), ' degraded ', (int) $d->isDegraded(), "\n";
}

TestClock::freeze(0);
$bucket = new TokenBucket('array:', 'x', 4, 3);
show($bucket->peek());
show($bucket->attempt());
show($bucket->attempt(3));
show($bucket->attempt(2));
show($bucket->attempt(5));
show($bucket->reserve(1));
show($bucket->reserve(4, 1.6));
show($bucket->reserve(4, 2));
show($bucket->peek());
TestClock::advance(0.5);
show($bucket->peek());
$bucket->refund(4);
show($bucket->peek(0));
$bucket->refund(PHP_INT_MAX);
show($bucket->peek(4));

// Whoever waits as long as he is told is let in; a nanosecond less is not enough.
$bucket = new TokenBucket('array:', 'thirds', 1, 3);
$bucket->consume();
$retry = $bucket->attempt()->getRetryAfter();
TestClock::advance($retry - 1e-9);
var_dump($retry, $bucket->consume());
TestClock::advance(1e-9);
var_dump($bucket->consume());

$never = $bucket->attempt(2);
echo json_encode($never), "\n";
var_dump($never);
thrown(
    fn () => new Decision,
    fn () => clone $never,
    fn () => serialize($never),
    fn () => $never->x = 1,
    fn () => $never->isAccepted(1),
    fn () => $bucket->reserve(1, -0.5),
    fn () => $bucket->reserve(1, NAN),
    fn () => $bucket->reserve(-1),
    fn () => $bucket->refund(-1),
);
?>
--EXPECTF--
1 limit 4 left 4 retry 0 reset 0 wait 0 degraded 0
1 limit 4 left 3 retry 0 reset 0.333333334 wait 0 degraded 0
1 limit 4 left 0 retry 0 reset 1.333333334 wait 0 degraded 0
0 limit 4 left 0 retry 0.666666667 reset 1.333333334 wait 0 degraded 0
0 limit 4 left 0 retry INF reset 1.333333334 wait 0 degraded 0
1 limit 4 left 0 retry 0 reset 1.666666667 wait 0.333333334 degraded 0
0 limit 4 left 0 retry 0.066666667 reset 1.666666667 wait 0 degraded 0
1 limit 4 left 0 retry 0 reset 3 wait 1.666666667 degraded 0
0 limit 4 left 0 retry 2 reset 3 wait 0 degraded 0
0 limit 4 left 0 retry 1.5 reset 2.5 wait 0 degraded 0
1 limit 4 left 0 retry 0 reset 1.166666667 wait 0 degraded 0
1 limit 4 left 4 retry 0 reset 0 wait 0 degraded 0
float(0.333333334)
bool(false)
bool(true)
{"accepted":false,"limit":1,"remaining_tokens":0,"retry_after":null,"reset_after":0.333333334,"wait":0,"degraded":false,"would_deny":true,"exempt":false}
object(TokenBucket\Decision)#%d (12) {
  ["accepted"]=>
  bool(false)
  ["limit"]=>
  int(1)
  ["remaining_tokens"]=>
  int(0)
  ["retry_after"]=>
  float(INF)
  ["reset_after"]=>
  float(0.333333334)
  ["wait"]=>
  float(0)
  ["degraded"]=>
  bool(false)
  ["would_deny"]=>
  bool(true)
  ["exempt"]=>
  bool(false)
  ["tokens"]=>
  int(0)
  ["denied_by"]=>
  array(1) {
    [0]=>
    string(7) "default"
  }
  ["charged_to"]=>
  array(0) {
  }
}
Error: Call to private TokenBucket\Decision::__construct() from global scope
Error: Trying to clone an uncloneable object of class TokenBucket\Decision
Exception: Serialization of 'TokenBucket\Decision' is not allowed
Error: Cannot create dynamic property TokenBucket\Decision::$x
ArgumentCountError: TokenBucket\Decision::isAccepted() expects exactly 0 arguments, 1 given
ValueError: TokenBucket::reserve(): Argument #2 ($maxWait) must be greater than or equal to 0
ValueError: TokenBucket::reserve(): Argument #2 ($maxWait) must be greater than or equal to 0
ValueError: TokenBucket::reserve(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket::refund(): Argument #1 ($tokens) must be greater than or equal to 0
