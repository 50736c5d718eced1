--TEST--
TestClock: freezes, advances and resumes
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

foreach (['shm:', 'array:'] as $dsn) {
    TestClock::freeze(1_700_000_000);
    $bucket = new TokenBucket($dsn, __FILE__, 1, 0.1);
    var_dump($bucket->consume());
    TestClock::advance(9.999999999);
    var_dump($bucket->consume());
    TestClock::advance(1e-9);
    var_dump($bucket->consume());
    // A clock that goes back locks nobody out for longer than one full refill.
    TestClock::advance(-3600);
    var_dump($bucket->attempt()->getRetryAfter());
    TestClock::advance(10);
    var_dump($bucket->consume());
    TestClock::resume();
    // And so does the system's clock after one that was far ahead. Such a state counts microseconds.
    var_dump($bucket->attempt()->getRetryAfter() <= 10.000001);
}
thrown(
    fn () => TestClock::advance(1),
    fn () => TestClock::freeze(-1),
    fn () => TestClock::freeze(NAN),
    fn () => TestClock::freeze(INF),
    fn () => TestClock::freeze(4.1e9),
    fn () => TestClock::freeze(4e9),
    fn () => TestClock::advance(1),
    fn () => TestClock::freeze(5),
    fn () => TestClock::advance(-6),
    fn () => TestClock::advance('soon'),
    fn () => new TestClock,
);
?>
--EXPECT--
bool(true)
bool(false)
bool(true)
float(10)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
float(10)
bool(true)
bool(true)
LogicException: TokenBucket\TestClock::advance() needs a frozen clock, call freeze() first
ValueError: TokenBucket\TestClock::freeze(): Argument #1 ($seconds) must keep the clock between 0 and 4000000000 seconds
ValueError: TokenBucket\TestClock::freeze(): Argument #1 ($seconds) must keep the clock between 0 and 4000000000 seconds
ValueError: TokenBucket\TestClock::freeze(): Argument #1 ($seconds) must keep the clock between 0 and 4000000000 seconds
ValueError: TokenBucket\TestClock::freeze(): Argument #1 ($seconds) must keep the clock between 0 and 4000000000 seconds
NULL
ValueError: TokenBucket\TestClock::advance(): Argument #1 ($seconds) must keep the clock between 0 and 4000000000 seconds
NULL
ValueError: TokenBucket\TestClock::advance(): Argument #1 ($seconds) must keep the clock between 0 and 4000000000 seconds
TypeError: TokenBucket\TestClock::advance(): Argument #1 ($seconds) must be of type float, string given
Error: Call to private TokenBucket\TestClock::__construct() from global scope
