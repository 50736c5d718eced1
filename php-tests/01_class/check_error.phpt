--TEST--
TokenBucket: check(): Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';

$limiter = new TokenBucket('array:', 'login');
thrown(
    fn () => $limiter->check('a', 0),
    fn () => $limiter->check('a', -1),
    fn () => $limiter->check('a', 10, 0),
    fn () => $limiter->check('a', 10, -300),
    fn () => $limiter->check('a', 10, PHP_INT_MAX),
    fn () => $limiter->check('a', 10, NAN),
    fn () => $limiter->check('a', 2147483647, 1),
    fn () => $limiter->check('', 10),
    fn () => $limiter->check(str_repeat('a', 4097), 10),
    fn () => $limiter->check([], 10),
    fn () => $limiter->check('a', 'ten'),
    fn () => $limiter->check('a'),
    fn () => $limiter->check(),
    fn () => $limiter->check('a', 10, 300, 1),
    fn () => $limiter->check(42, '10', 300.0),
);
?>
--EXPECT--
ValueError: TokenBucket::check(): Argument #2 ($limit) must be between 1 and 2147483647
ValueError: TokenBucket::check(): Argument #2 ($limit) must be between 1 and 2147483647
ValueError: TokenBucket::check(): Argument #3 ($window) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::check(): Argument #3 ($window) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::check(): Argument #3 ($window) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::check(): Argument #3 ($window) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::check(): Argument #3 ($window) must be at least one nanosecond for each unit of $limit
ValueError: TokenBucket::check(): Argument #1 ($id) must be between 1 and 4096 bytes long
ValueError: TokenBucket::check(): Argument #1 ($id) must be between 1 and 4096 bytes long
TypeError: TokenBucket::check(): Argument #1 ($id) must be of type ?string, array given
TypeError: TokenBucket::check(): Argument #2 ($limit) must be of type ?int, string given
LogicException: TokenBucket::check() needs a limit, such as check($id, 10, 300) for 10 in 300 seconds, or $bucket_capacity and $tokens_per_second in TokenBucket::__construct()
LogicException: TokenBucket::check() needs a limit, such as check($id, 10, 300) for 10 in 300 seconds, or $bucket_capacity and $tokens_per_second in TokenBucket::__construct()
ArgumentCountError: TokenBucket::check() expects at most 3 arguments, 4 given
bool(false)
