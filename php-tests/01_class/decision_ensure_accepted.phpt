--TEST--
Decision: ensureAccepted() returns the decision, or throws an exception that has it; getUsedTokens()
--INI--
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{ArrayStorage, Compound, FixedWindow, LimitExceededException, TestClock};
require __DIR__ . '/../utils.inc';

TestClock::freeze(1_000);
$user = TokenBucket::per(new ArrayStorage, "user:\xff\n", 5, 50);
$address = new FixedWindow(new ArrayStorage, '192.0.2.1', 5, 60);
$decision = $user->attempt(3);
var_dump($decision->ensureAccepted() === $decision, $decision->getUsedTokens(), $user->peek(0)->getUsedTokens());
var_dump($address->attempt(5)->getUsedTokens(), (new TokenBucket('array:?enforce=0', 'dry', 1, 1))->attempt(2)->ensureAccepted()->getTokens());

foreach ([
    fn () => $user->attempt(3),
    fn () => $user->peek(6),
    fn () => (new Compound($user, $address))->attempt(3),
] as $call) {
    $decision = $call();
    try {
        $decision->ensureAccepted();
    } catch (TokenBucket\TokenBucketException $e) {
        echo get_class($e), ' ', implode(' ', class_parents($e)), ' ', $e->getLine(), ' ', $e->getCode(), ': ', $e->getMessage(), ' ',
            json_encode($e->getDecision() === $decision), json_encode($e->getDecision()->isAccepted()), "\n";
    }
}
try {
    $user->attempt(3)->ensureAccepted();
} catch (LimitExceededException $e) {
}
echo json_encode($e->getDecision()), "\n";
thrown(
    fn () => new LimitExceededException('x'),
    fn () => serialize($e),
    fn () => clone $e,
    fn () => $decision->ensureAccepted(1),
    fn () => $decision->wait(1),
    fn () => $decision->getUsedTokens(1),
    fn () => $e->getDecision(1),
);
// Uncaught.
$user->attempt(3)->ensureAccepted();
?>
--EXPECTF--
bool(true)
int(3)
int(3)
int(5)
int(2)
TokenBucket\LimitExceededException RuntimeException Exception 19 0: Denied by user. Try again in 10 seconds. truefalse
TokenBucket\LimitExceededException RuntimeException Exception 19 0: Denied by user. The request is larger than the limit allows at any time. Take the limit at most, and settle() what it costs. truefalse
TokenBucket\LimitExceededException RuntimeException Exception 19 0: Denied by user, default. Try again in 60 seconds. truefalse
{"accepted":false,"limit":5,"remaining_tokens":2,"retry_after":10,"reset_after":30,"wait":0,"degraded":false,"would_deny":true,"exempt":false}
Error: Call to private TokenBucket\LimitExceededException::__construct() from global scope
Exception: Serialization of 'TokenBucket\Decision' is not allowed
Error: Trying to clone an uncloneable object of class TokenBucket\LimitExceededException
ArgumentCountError: TokenBucket\Decision::ensureAccepted() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Decision::wait() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Decision::getUsedTokens() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\LimitExceededException::getDecision() expects exactly 0 arguments, 1 given

Fatal error: Uncaught TokenBucket\LimitExceededException: Denied by user. Try again in 10 seconds. in %s:%d
Stack trace:
#0 %s(%d): TokenBucket\Decision->ensureAccepted()
#1 {main}
  thrown in %s on line %d
