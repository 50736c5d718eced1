--TEST--
FixedWindow: opens at the first hit and lasts its interval
--INI--
token_bucket.warn_of_mistakes=0
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{FixedWindow, TestClock};

TestClock::freeze(1_000_000);
$storage = new TokenBucket\ArrayStorage;
$window = new FixedWindow($storage, '192.0.2.1', 5, 6);
var_dump($window->peek()->getResetAfter());
for ($second = 0; $second <= 13; $second++) {
    foreach ([1, 2] as $_) {
        echo $window->consume() ? 'yes ' : 'no ';
    }
    TestClock::advance(1);
}
echo "\n", json_encode($window->attempt()), json_encode($window->attempt(6)), "\n";

// Just before its end, and at its end.
$window->reset();
var_dump($window->consume(5), $window->peek()->getRetryAfter() === 6.0);
TestClock::advance(5.999999999);
var_dump($window->consume());
TestClock::advance(0.000000001);
var_dump($window->consume(), $window->peek()->getRemainingTokens());

// Hits taken back; the window lasts as long.
$window->consume(3);
$window->refund(2);
echo $window->peek()->getRemainingTokens(), ' ', round($window->peek()->getResetAfter(), 6), "\n";
$window->refund(100);
echo $window->peek()->getRemainingTokens(), ' ', round($window->peek()->getResetAfter(), 6), "\n";

// A limit that is raised or lowered counts at once; buckets on the same identifier are apart.
$window->consume(5);
var_dump((new FixedWindow($storage, '192.0.2.1', 6, 6))->consume(), $window->consume(0));
var_dump((new TokenBucket($storage, '192.0.2.1', 1, 1))->consume(), (new TokenBucket($storage, '192.0.2.1', 1, 1))->consume());
var_dump($window instanceof TokenBucket\Limiter, $window);
?>
--EXPECTF--
float(0)
yes yes yes yes yes no no no no no no no yes yes yes yes yes no no no no no no no yes yes yes yes 
{"accepted":true,"limit":5,"remaining_tokens":0,"retry_after":0,"reset_after":4,"wait":0,"degraded":false,"would_deny":false,"exempt":false}{"accepted":false,"limit":5,"remaining_tokens":0,"retry_after":null,"reset_after":4,"wait":0,"degraded":false,"would_deny":true,"exempt":false}
bool(true)
bool(true)
bool(false)
bool(true)
int(4)
3 6
5 6
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
object(TokenBucket\FixedWindow)#%d (3) {
  ["identifier"]=>
  string(9) "192.0.2.1"
  ["limit"]=>
  int(5)
  ["interval"]=>
  float(6)
}
