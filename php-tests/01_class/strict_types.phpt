--TEST--
TokenBucket: with strict_types, arguments are what their types say
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../utils.inc';

$bucket = new TokenBucket('array:', 'x', 10, 1); // an int is a float, even so
thrown(
    fn () => $bucket->consume('1'),
    fn () => $bucket->consume(1.0),
    fn () => $bucket->consume(true),
    fn () => $bucket->consume(null),
    fn () => $bucket->check(42, 10),
    fn () => $bucket->check('42', 10.0),
    fn () => $bucket->reserve(1, '1'),
    fn () => new TokenBucket('array:', 42, 10, 1),
    fn () => new TokenBucket(42, 'x', 10, 1),
    fn () => new TokenBucket('array:', 'x', '10', 1),
    fn () => new TokenBucket('array:', 'x', 10, '1'),
    fn () => TokenBucket::compare_microtimes('1', 2),
);
?>
--EXPECTF--
TypeError: TokenBucket::consume(): Argument #1 ($token_count) must be of type int, string given
TypeError: TokenBucket::consume(): Argument #1 ($token_count) must be of type int, float given
TypeError: TokenBucket::consume(): Argument #1 ($token_count) must be of type int, %r(bool|true)%r given
TypeError: TokenBucket::consume(): Argument #1 ($token_count) must be of type int, null given
TypeError: TokenBucket::check(): Argument #1 ($id) must be of type ?string, int given
TypeError: TokenBucket::check(): Argument #2 ($limit) must be of type ?int, float given
TypeError: TokenBucket::reserve(): Argument #2 ($maxWait) must be of type ?float, string given
TypeError: TokenBucket::__construct(): Argument #2 ($identifier) must be of type string, int given
TypeError: TokenBucket::__construct(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, int given
TypeError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be of type ?int, string given
TypeError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be of type ?float, string given
TypeError: TokenBucket::compare_microtimes(): Argument #1 ($m1) must be of type float, string given
