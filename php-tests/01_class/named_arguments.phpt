--TEST--
TokenBucket: named arguments, callables and reflection reach the methods
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
TokenBucket\TestClock::freeze(1_000_000);

$limiter = new TokenBucket('array:', 'login', bucket_capacity: 3, tokens_per_second: 1);
// What is left out in the middle has its default.
echo times(5, fn () => $limiter->check(window: 60)), "\n";
echo times(5, fn () => $limiter->check(limit: 2, id: 'a')), "\n";
echo times(5, fn () => $limiter->check('b', window: 10, limit: 1)), "\n";

$bucket = new TokenBucket('array:', 'named', 3, 1);
var_dump($bucket->attempt(tokens: 3)->isAccepted());
var_dump($bucket->reserve(maxWait: 0.5)->isAccepted(), $bucket->reserve(maxWait: 1)->getWait());
$bucket->refund(tokens: 2);
var_dump($bucket->peek(tokens: 1)->isAccepted());
$bucket->reset();
var_dump(TokenBucket::compare_microtimes(m2: 1, m1: 2));

$consume = $bucket->consume(...);
var_dump($consume(2), $consume(token_count: 2));
var_dump(call_user_func_array([$bucket, 'consume'], ['token_count' => 1]), array_map([$bucket, 'consume'], [1, 0]));
var_dump((new ReflectionMethod($bucket, 'key'))->invoke($bucket, 'x'));
thrown(
    fn () => $limiter->check(id: 'a', windows: 5),
    fn () => $limiter->check('a', id: 'b'),
    fn () => new TokenBucket(identifier: 'x'),
    fn () => new TokenBucket(null, 'x', capacity: 1),
);
?>
--EXPECT--
00011
00111
01111
bool(true)
bool(false)
float(1)
bool(true)
int(1)
bool(true)
bool(false)
bool(true)
array(2) {
  [0]=>
  bool(false)
  [1]=>
  bool(true)
}
string(7) "named:x"
Error: Unknown named parameter $windows
Error: Named parameter $id overwrites previous argument
ArgumentCountError: TokenBucket::__construct(): Argument #1 ($storage) not passed
Error: Unknown named parameter $capacity
