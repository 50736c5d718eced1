--TEST--
TokenBucket: per(): Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';

abstract class Partial extends TokenBucket
{
    abstract public function more();
}
class Throwing extends TokenBucket
{
    public function __construct()
    {
        throw new DomainException('constructor');
    }
}
$four_years = 4 * 31_557_600;
thrown(
    fn () => TokenBucket::per('array:', 'x', 5),
    fn () => TokenBucket::per('array:', 'x', 5, 60, 'name', 1),
    fn () => TokenBucket::per([], 'x', 5, 60),
    fn () => TokenBucket::per('reddis:', 'x', 5, 60),
    fn () => TokenBucket::per('array:', '', 5, 60),
    fn () => TokenBucket::per('array:', str_repeat('x', 4097), 5, 60),
    fn () => TokenBucket::per('array:', 'x', 0, 60),
    fn () => TokenBucket::per('array:', 'x', -1, 60),
    fn () => TokenBucket::per('array:', 'x', 2_147_483_648, 60),
    fn () => TokenBucket::per('array:', 'x', 'many', 60),
    fn () => TokenBucket::per('array:', 'x', 5, 0),
    fn () => TokenBucket::per('array:', 'x', 5, -1),
    fn () => TokenBucket::per('array:', 'x', 5, NAN),
    fn () => TokenBucket::per('array:', 'x', 5, INF),
    fn () => TokenBucket::per('array:', 'x', 5, $four_years + 1),
    fn () => TokenBucket::per('array:', 'x', 5, 4e-9),
    fn () => TokenBucket::per('array:', 'x', 2_147_483_647, 2.1),
    fn () => TokenBucket::per('array:', 'x', 5, 60, []),
    fn () => Partial::per('array:', 'x', 5, 60),
    fn () => Throwing::per('array:', 'x', 5, 60)->consume(),
    fn () => TokenBucket::per(new MemoryStorage, 'x', 5, 60)->consume(5),
    fn () => TokenBucket::per(new MemoryStorage, 'x', 5, 60)->peek(),
    fn () => TokenBucket::per('array:', 'shortest', 5, 5e-9)->consume(5),
    fn () => TokenBucket::per('array:', 'longest', 1, $four_years)->consume(),
);
?>
--EXPECTF--
ArgumentCountError: TokenBucket::per() expects at least 4 arguments, 3 given
ArgumentCountError: TokenBucket::per() expects at most 5 arguments, 6 given
TypeError: TokenBucket::per(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, array given
TokenBucket\ConfigurationException: Unknown scheme "reddis:" in the storage DSN, known are shm:, %s
ValueError: TokenBucket::per(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket::per(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket::per(): Argument #3 ($limit) must be between 1 and 2147483647
ValueError: TokenBucket::per(): Argument #3 ($limit) must be between 1 and 2147483647
ValueError: TokenBucket::per(): Argument #3 ($limit) must be between 1 and 2147483647
TypeError: TokenBucket::per(): Argument #3 ($limit) must be of type int, string given
ValueError: TokenBucket::per(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::per(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::per(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::per(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::per(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::per(): Argument #4 ($interval) must be at least one nanosecond for each unit of $limit
ValueError: TokenBucket::per(): Argument #4 ($interval) must be at least one nanosecond for each unit of $limit
TypeError: TokenBucket::per(): Argument #5 ($name) must be of type ?string, array given
Error: Cannot instantiate abstract class Partial
bool(true)
bool(true)
LogicException: peek() is not available on a storage written in PHP: TokenBucketStorage has consume() only
bool(true)
bool(true)
