--TEST--
TokenBucket: without strict_types, arguments are coerced as the engine does
--FILE--
<?php
require __DIR__ . '/../utils.inc';

$bucket = new TokenBucket('array:', 42, '10', '0.001');
$text = new class { public function __toString(): string { return 'array:'; } };
thrown(
    fn () => (new TokenBucket($text, $text, 1, 1))->consume(),
    fn () => $bucket->consume('1'),
    fn () => $bucket->consume(1.0),
    fn () => $bucket->consume(true),
    fn () => $bucket->consume(1.5),
    fn () => $bucket->consume('1.0'),
    fn () => $bucket->consume(NAN),
    fn () => $bucket->peek()->getRemainingTokens(),
    fn () => (new TokenBucket('array:', '42', 10, 0.001))->peek()->getRemainingTokens(),
    fn () => TokenBucket::compare_microtimes('2', true),
);
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(true)

Deprecated: Implicit conversion from float 1.5 %s on line %d
bool(true)
bool(true)
TypeError: TokenBucket::consume(): Argument #1 ($token_count) must be of type int, float given
int(5)
int(5)
int(1)
