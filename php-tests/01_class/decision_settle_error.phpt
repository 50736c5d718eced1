--TEST--
Decision: settle(): Parameters are correctly validated, and settle nothing
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{Compound, FixedWindow};

$bucket = new TokenBucket('array:', 'x', 10, 1);
$decision = $bucket->attempt(4);
thrown(fn () => $decision->settle());
thrown(fn () => $decision->settle(1, 2));
thrown(fn () => $decision->settle(-1));
thrown(fn () => $decision->settle('many'));
thrown(fn () => $decision->settle([1, 2]));
thrown(fn () => $decision->settle([]));
thrown(fn () => $decision->settle([-1]));
thrown(fn () => $decision->settle(['1']));
echo $bucket->peek()->getRemainingTokens(), ' ', json_encode($decision->settle([3])), ' ', $bucket->peek()->getRemainingTokens(), "\n";

$both = new Compound($bucket, new FixedWindow('array:', 'y', 5, 60));
$decision = $both->attempt(2);
thrown(fn () => $decision->settle([1]));
thrown(fn () => $decision->settle([1, 2, 3]));
thrown(fn () => $decision->settle(['a' => 1, 'b' => 2]));
thrown(fn () => $decision->settle([1, 1.5]));
thrown(fn () => $decision->settle([1, -2]));
echo json_encode($decision->settle([1, 2])), ' ', $bucket->peek()->getRemainingTokens(), "\n";
// A denied call took nothing.
echo json_encode([$both->attempt(4)->settle([1, 2]), $both->attempt(4)->settle(9)]), "\n";
thrown(fn () => $both->attempt(4)->settle(1, 2));

$php = new TokenBucket(new MemoryStorage, 'x', 10, 1);
thrown(fn () => $php->attempt()->settle(1));
?>
--EXPECT--
ArgumentCountError: TokenBucket\Decision::settle() expects exactly 1 argument, 0 given
ArgumentCountError: TokenBucket\Decision::settle() expects exactly 1 argument, 2 given
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be greater than or equal to 0
TypeError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be of type array|int, string given
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be a list with one number for the one limiter
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be a list with one number for the one limiter
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must contain only numbers of 0 or more
TypeError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be of type array|int, with ints in the array
6 true 7
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be a list with one number for each of the 2 limiters
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be a list with one number for each of the 2 limiters
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be a list with one number for each of the 2 limiters
TypeError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be of type array|int, with ints in the array
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must contain only numbers of 0 or more
true 6
[false,false]
ArgumentCountError: TokenBucket\Decision::settle() expects exactly 1 argument, 2 given
LogicException: settle() is not available on a storage written in PHP: TokenBucketStorage has consume() only
