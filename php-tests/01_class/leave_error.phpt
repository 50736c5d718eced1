--TEST--
attempt(), peek(), takeUpTo(): $leave is correctly validated
--INI--
token_bucket.limits={PWD}/leave_error.limits.ini
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{Compound, FixedWindow};
use function TokenBucket\limiter;

$bucket = new TokenBucket('array:', 'x', 10, 1);
$both = new Compound($bucket, new FixedWindow('array:', 'y', 5, 60));
thrown(
    fn () => $bucket->attempt(1, -1),
    fn () => $bucket->peek(1, -1),
    fn () => $bucket->takeUpTo(1, 1, -1),
    fn () => $bucket->attempt(1, 'some'),
    fn () => $bucket->attempt(1, 2, 3),
    fn () => $both->attempt(1, -1),
    fn () => $both->peek(1, [1]),
    fn () => $both->attempt(1, [1, 'a']),
    fn () => (new TokenBucket(new MemoryStorage, 'x', 10, 1))->attempt(1, leave: 5)->isAccepted(),
);
// A limit whose calls leave tokens gives away none that may not be there.
$file = __DIR__ . '/leave_error.limits.ini';
file_put_contents($file, "[low]\nlimit = 9\ninterval = 9\nleave = 3\nstorage = \"array:\"");
thrown(
    fn () => limiter('low', 'x')->reserve(),
    fn () => limiter('low', 'x')->check(),
    fn () => limiter('low', 'x')->check('client', 5, 60),
);
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/leave_error.limits.ini');
?>
--EXPECT--
ValueError: TokenBucket::attempt(): Argument #2 ($leave) must be greater than or equal to 0
ValueError: TokenBucket::peek(): Argument #2 ($leave) must be greater than or equal to 0
ValueError: TokenBucket::takeUpTo(): Argument #3 ($leave) must be greater than or equal to 0
TypeError: TokenBucket::attempt(): Argument #2 ($leave) must be of type int, string given
ArgumentCountError: TokenBucket::attempt() expects at most 2 arguments, 3 given
ValueError: TokenBucket\Compound::attempt(): Argument #2 ($leave) must be greater than or equal to 0
ValueError: TokenBucket\Compound::peek(): Argument #2 ($leave) must be a list with one number for each of the 2 limiters
TypeError: TokenBucket\Compound::attempt(): Argument #2 ($leave) must be of type array|int, with ints in the array
LogicException: attempt(): $leave is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: reserve() is not available on a limit that leaves tokens ("leave" in token_bucket.limits)
LogicException: check() is not available on a limit that leaves tokens ("leave" in token_bucket.limits)
LogicException: check() is not available on a limit that leaves tokens ("leave" in token_bucket.limits)
