--TEST--
TokenBucket: the limit of a live bucket can be raised and lowered
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

foreach (['shm:', 'array:'] as $dsn) {
    TestClock::freeze(1_000_000);
    $of = fn (int $capacity, float $rate) => new TokenBucket($dsn, __FILE__, $capacity, $rate);
    // What was taken stays taken; what fits besides is there at once.
    echo times(4, fn () => $of(3, 1)->consume()), ' ', times(8, fn () => $of(10, 1)->consume()), "\n";
    // Lowered below what is owed: nothing until then, and never longer than one refill of the new limit.
    var_dump($of(2, 1)->consume(), $of(2, 1)->attempt()->getRetryAfter());
    TestClock::advance(1);
    echo times(3, fn () => $of(2, 1)->consume()), "\n";
    // Faster: what is owed is a time, so it stays as long.
    TestClock::advance(0.5);
    var_dump($of(20, 10)->peek(20)->isAccepted(), $of(20, 10)->peek()->getResetAfter());
    $of(20, 10)->reset();
    echo $of(3, 1)->peek()->getRemainingTokens(), "\n";
}
?>
--EXPECT--
1110 11111110
bool(false)
float(1)
100
bool(false)
float(1.5)
3
1110 11111110
bool(false)
float(1)
100
bool(false)
float(1.5)
3
