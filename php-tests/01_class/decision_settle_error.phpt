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

$php = new TokenBucket(new MemoryStorage, 'x', 10, 1);
thrown(fn () => $php->attempt()->settle(1));
?>
--EXPECT--
Warning: PHP Startup: Unable to load dynamic library '/work/wt/budgets/target/release/libtoken_bucket.so' (tried: /work/wt/budgets/target/release/libtoken_bucket.so (/work/wt/budgets/target/release/libtoken_bucket.so: cannot open shared object file: No such file or directory), /usr/lib/php/20220829//work/wt/budgets/target/release/libtoken_bucket.so.so (/usr/lib/php/20220829//work/wt/budgets/target/release/libtoken_bucket.so.so: cannot open shared object file: No such file or directory)) in Unknown on line 0

Fatal error: Uncaught Error: Interface "TokenBucketStorage" not found in /work/wt/budgets/php-tests/02_storages/php_storage.inc:4
Stack trace:
#0 /work/wt/budgets/php-tests/01_class/decision_settle_error.php(3): require()
#1 {main}
  thrown in /work/wt/budgets/php-tests/02_storages/php_storage.inc on line 4
