--TEST--
LeakyBucket: six calls at once, one more every five seconds; each action of a client has a bucket of its own
--INI--
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{LeakyBucket, TestClock};

TestClock::freeze(1_000_000);
$bucket = new LeakyBucket(new TokenBucket\ArrayStorage, '192.0.2.1 search', 6, 30);
for ($i = 1; $i <= 7; $i++) {
    echo $bucket->consume() ? 'yes ' : 'no ';
}
echo json_encode($bucket->attempt()), "\n";
for ($second = 1; $second <= 11; $second++) {
    TestClock::advance(1);
    echo $bucket->consume() ? 'yes ' : 'no ';
}
echo "\n";

// It leaks without anyone looking; what is given back makes room; never below empty.
TestClock::advance(14);
echo $bucket->peek()->getRemainingTokens();
$bucket->consume(2);
$bucket->refund(1);
echo ' ', $bucket->peek()->getRemainingTokens();
$bucket->refund(100);
echo ' ', $bucket->peek()->getRemainingTokens();
$bucket->consume(6);
$bucket->reset();
echo ' ', $bucket->peek()->getRemainingTokens(), ' ', $bucket->peek(7)->getRetryAfter(), "\n";

// Ten actions of one client, each with a bucket of its own.
$storage = new TokenBucket\ArrayStorage;
for ($round = 0; $round < 7; $round++) {
    $passed = 0;
    for ($action = 0; $action < 10; $action++) {
        $passed += (int) (new LeakyBucket($storage, "192.0.2.1 action $action", 6, 30))->consume();
    }
    echo $passed, ' ';
}
echo "\n";

// The same arithmetic as a token bucket's, and the same bucket on the same identifier.
mt_srand(3);
$same = 0;
$token = new TokenBucket($storage, 'token', 6, 0.2);
$leaky = new LeakyBucket($storage, 'leaky', 6, 30);
for ($i = 0; $i < 1_000; $i++) {
    TestClock::advance(mt_rand(0, 9_000) / 1_000);
    $cost = mt_rand(0, 3);
    $same += (int) (json_encode($token->attempt($cost)) === json_encode($leaky->attempt($cost)));
}
var_dump($same, $leaky instanceof TokenBucket\Limiter, $leaky);
echo (new TokenBucket($storage, 'leaky', 6, 0.2))->peek()->getRemainingTokens() === $leaky->peek()->getRemainingTokens() ? "shared\n" : "apart\n";

// On a storage written in PHP.
require dirname(__DIR__) . '/02_storages/php_storage.inc';
$leaky = new LeakyBucket($php = new MemoryStorage, 'x', 6, 30);
var_dump($leaky->consume(2), $php->calls[0][1], $php->calls[0][2]);
?>
--EXPECTF--
yes yes yes yes yes yes no {"accepted":false,"limit":6,"remaining_tokens":0,"retry_after":5,"reset_after":30,"wait":0,"degraded":false,"would_deny":true,"exempt":false}
no no no no yes no no no no yes no 
3 2 6 6 INF
10 10 10 10 10 10 0 
int(1000)
bool(true)
object(TokenBucket\LeakyBucket)#%d (3) {
  ["identifier"]=>
  string(5) "leaky"
  ["limit"]=>
  int(6)
  ["interval"]=>
  float(30)
}
shared
bool(true)
float(10)
float(30)
