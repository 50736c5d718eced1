--TEST--
TokenBucket: the largest and smallest numbers neither overflow nor drift
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

const FOUR_YEARS = 4 * 31_557_600;

foreach (['shm:', 'array:'] as $dsn) {
    TestClock::freeze(4e9 - FOUR_YEARS - 1);
    $large = new TokenBucket($dsn, 'large' . __FILE__, 2147483647, 1e9);
    var_dump($large->consume(2147483648), $large->consume(PHP_INT_MAX), $large->consume(2147483647), $large->consume(1));
    var_dump($large->attempt(2147483647)->getRetryAfter(), $large->attempt(PHP_INT_MAX)->getRetryAfter());
    TestClock::advance(1e-9);
    echo times(2, fn () => $large->consume()), "\n";

    $slow = new TokenBucket($dsn, 'slow' . __FILE__, FOUR_YEARS, 1);
    var_dump($slow->attempt(FOUR_YEARS)->getResetAfter(), $slow->reserve(FOUR_YEARS)->getWait());
    var_dump($slow->reserve(1)->getRetryAfter(), $slow->reserve(1, 1e300)->isAccepted(), $slow->reserve(1, INF)->isAccepted());
    TestClock::advance(FOUR_YEARS);
    var_dump($slow->consume(), $slow->peek(0)->getResetAfter());

    // The longest window.
    TestClock::freeze(0);
    echo times(3, fn () => $slow->check('client' . __FILE__, 1, FOUR_YEARS));
    TestClock::advance(FOUR_YEARS);
    echo times(2, fn () => $slow->check('client' . __FILE__, 1, FOUR_YEARS)), "\n";

    // A third of a second is no whole number of nanoseconds; 30,000 of them are 10,000 seconds all the same.
    TestClock::freeze(0);
    $thirds = new TokenBucket($dsn, 'thirds' . __FILE__, 30_000, 3);
    echo times(30_000, fn () => $thirds->consume()) === str_repeat('1', 30_000) ? 'all ' : 'not all ';
    var_dump($thirds->consume(), $thirds->peek()->getResetAfter());
}
thrown(
    fn () => new TokenBucket('array:', 'x', FOUR_YEARS + 1, 1),
    fn () => new TokenBucket('array:', 'x', 1, PHP_FLOAT_MIN),
    fn () => new TokenBucket('array:', 'x', 1, 4.9e-324),
    fn () => new TokenBucket('array:', 'x', 1, PHP_FLOAT_MAX),
    fn () => $slow->check('x', 1, FOUR_YEARS + 1),
    fn () => $slow->check('x', PHP_INT_MIN, PHP_INT_MAX),
);
?>
--EXPECT--
bool(false)
bool(false)
bool(true)
bool(false)
float(2.147483647)
float(INF)
10
float(126230400)
float(126230400)
float(1)
bool(false)
bool(false)
bool(false)
float(126230400)
01101
all bool(false)
float(10000)
bool(false)
bool(false)
bool(true)
bool(false)
float(2.147483647)
float(INF)
10
float(126230400)
float(126230400)
float(1)
bool(false)
bool(false)
bool(false)
float(126230400)
01101
all bool(false)
float(10000)
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must refill the whole bucket within four years: a capacity of 126230401 takes 4.0 years at 1.0 tokens per second; were seconds per token meant?
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must refill the whole bucket within four years: a capacity of 1 takes 1.4e300 years at 2.2250738585072014e-308 tokens per second; were seconds per token meant?
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must refill the whole bucket within four years: a capacity of 1 takes inf years at 5e-324 tokens per second; were seconds per token meant?
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be at most 1000000000
ValueError: TokenBucket::check(): Argument #3 ($window) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::check(): Argument #2 ($limit) must be between 1 and 2147483647
