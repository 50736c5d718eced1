--TEST--
TokenBucket: consume(): Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';

$bucket = new TokenBucket('array:', 'x', 10, 1);
thrown(
    fn () => $bucket->consume(-1),
    fn () => $bucket->consume(PHP_INT_MIN),
    fn () => $bucket->consume('two'),
    fn () => $bucket->consume([]),
    fn () => $bucket->consume('2'),
    fn () => $bucket->consume(1, 2),
    fn () => $bucket->consume(tokens: 2),
    fn () => (new TokenBucket('array:', 'x'))->consume(),
    fn () => (new TokenBucket('array:', 'x', 5))->attempt(),
    fn () => (new TokenBucket('array:', 'x', tokens_per_second: 5))->peek(),
    fn () => (new TokenBucket('array:', 'x'))->refund(),
);
?>
--EXPECT--
ValueError: TokenBucket::consume(): Argument #1 ($token_count) must be greater than or equal to 0
ValueError: TokenBucket::consume(): Argument #1 ($token_count) must be greater than or equal to 0
TypeError: TokenBucket::consume(): Argument #1 ($token_count) must be of type int, string given
TypeError: TokenBucket::consume(): Argument #1 ($token_count) must be of type int, array given
bool(true)
ArgumentCountError: TokenBucket::consume() expects at most 1 argument, 2 given
Error: Unknown named parameter $tokens
LogicException: TokenBucket::consume() needs a limit: $bucket_capacity and $tokens_per_second missing in TokenBucket::__construct()
LogicException: TokenBucket::attempt() needs a limit: $tokens_per_second missing in TokenBucket::__construct()
LogicException: TokenBucket::peek() needs a limit: $bucket_capacity missing in TokenBucket::__construct()
LogicException: TokenBucket::refund() needs a limit: $bucket_capacity and $tokens_per_second missing in TokenBucket::__construct()
