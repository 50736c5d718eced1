--TEST--
TokenBucket: peek() changes nothing, refund() never exceeds the capacity, reset() fills the bucket
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

foreach (['shm:', 'array:'] as $dsn) {
    TestClock::freeze(1_000_000);
    $bucket = new TokenBucket($dsn, __FILE__, 5, 1);
    $left = fn () => $bucket->peek()->getRemainingTokens();

    echo times(20, fn () => $bucket->peek(5)->isAccepted()), ' ', $left(), "\n";
    $bucket->consume(4);
    // A denied call takes nothing, however often it is made.
    echo times(5, fn () => $bucket->consume(2)), times(5, fn () => $bucket->peek(2)->isAccepted()), ' ', $left(), "\n";
    $bucket->refund();
    $bucket->refund(2);
    $bucket->refund(0);
    echo $left(), "\n";
    $bucket->refund(1_000);
    $bucket->refund(PHP_INT_MAX);
    echo $left(), ' ', times(6, fn () => $bucket->consume()), "\n";
    // The refund of a fraction of the refill's time keeps the rest.
    TestClock::advance(0.5);
    $bucket->refund(3);
    echo $left(), ' ', $bucket->peek()->getResetAfter(), "\n";

    // Out of debt: what reserve() and check() owe.
    $_ = $bucket->reserve(5);
    $bucket->refund();
    echo $bucket->peek()->getRetryAfter(), ' ';
    $bucket->reset();
    echo $left(), ' ';
    times(50, fn () => $bucket->check());
    $bucket->refund(44);
    echo (int) $bucket->check(), ' ';
    $bucket->refund(3);
    echo $left(), ' ';
    times(50, fn () => $bucket->check());
    $bucket->reset();
    echo $left(), ' ', times(6, fn () => $bucket->check()), "\n";
    // Of a bucket nobody knows.
    $unknown = new TokenBucket($dsn, 'unknown' . __FILE__, 5, 1);
    $unknown->refund();
    $unknown->reset();
    echo $unknown->peek()->getRemainingTokens(), "\n";
}
?>
--EXPECT--
11111111111111111111 5
0000000000 1
4
5 111110
3 1.5
1.5 5 1 1 5 000001
5
11111111111111111111 5
0000000000 1
4
5 111110
3 1.5
1.5 5 1 1 5 000001
5
