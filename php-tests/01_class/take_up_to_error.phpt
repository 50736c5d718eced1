--TEST--
TokenBucket: takeUpTo(): Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';

$bucket = TokenBucket::per('array:', 'x', 5, 60);
thrown(
    fn () => $bucket->takeUpTo(),
    fn () => $bucket->takeUpTo(1, 1, 1, 1),
    fn () => $bucket->takeUpTo(-1),
    fn () => $bucket->takeUpTo(PHP_INT_MIN),
    fn () => $bucket->takeUpTo('many'),
    fn () => $bucket->takeUpTo(3, 0),
    fn () => $bucket->takeUpTo(3, -1),
    fn () => $bucket->takeUpTo(3, 4),
    fn () => $bucket->takeUpTo(0, 0),
    fn () => $bucket->takeUpTo(0, 2),
    fn () => $bucket->takeUpTo(3, []),
    fn () => $bucket->takeUpTo(least: 3),
    fn () => (new TokenBucket('array:', 'x'))->takeUpTo(1),
    fn () => TokenBucket::per(new MemoryStorage, 'x', 5, 60)->takeUpTo(1),
    fn () => $bucket->takeUpTo(least: 5, most: 5)->getTokens(),
);
?>
--EXPECT--
ArgumentCountError: TokenBucket::takeUpTo() expects at least 1 argument, 0 given
ArgumentCountError: TokenBucket::takeUpTo() expects at most 3 arguments, 4 given
ValueError: TokenBucket::takeUpTo(): Argument #1 ($most) must be greater than or equal to 0
ValueError: TokenBucket::takeUpTo(): Argument #1 ($most) must be greater than or equal to 0
TypeError: TokenBucket::takeUpTo(): Argument #1 ($most) must be of type int, string given
ValueError: TokenBucket::takeUpTo(): Argument #2 ($least) must be between 1 and $most
ValueError: TokenBucket::takeUpTo(): Argument #2 ($least) must be between 1 and $most
ValueError: TokenBucket::takeUpTo(): Argument #2 ($least) must be between 1 and $most
ValueError: TokenBucket::takeUpTo(): Argument #2 ($least) must be between 1 and $most
ValueError: TokenBucket::takeUpTo(): Argument #2 ($least) must be between 1 and $most
TypeError: TokenBucket::takeUpTo(): Argument #2 ($least) must be of type int, array given
ArgumentCountError: TokenBucket::takeUpTo(): Argument #1 ($most) not passed
LogicException: TokenBucket::takeUpTo() needs a limit: $bucket_capacity and $tokens_per_second missing in TokenBucket::__construct()
LogicException: takeUpTo() is not available on a storage written in PHP: TokenBucketStorage has consume() only
int(5)
