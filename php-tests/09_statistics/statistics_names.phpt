--TEST--
statistics(): names that clients make up take no room from given ones, become no label of prometheus(), and are freed by reset_statistics()
--FILE--
<?php
use function TokenBucket\{limiter, prometheus, reset_statistics, statistics};
require dirname(__DIR__) . '/utils.inc';

$file = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/statistics_names.limits.ini';
if (!getenv('TB_APART')) {
    file_put_contents($file, "[api]\nlimit = 9\ninterval = 1\n[login]\nall = api\n");
    putenv('TEST_PHP_EXTRA_ARGS=' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.limits=$file -d token_bucket.storage=array:");
    register_shutdown_function(unlink(...), $file);
}
run_apart(__FILE__);

function flood(): void
{
    for ($i = 0; $i < 200; $i++) {
        // The classic call, with an address for both; addresses are ''.
        (new TokenBucket(null, "192.0.2.$i"))->check("192.0.2.$i", 10, 300);
        (new TokenBucket(null, "2001:db8::$i", 10, 1))->check("2001:db8::$i", 10, 300);
        (new TokenBucket(null, "user$i"))->check("user$i", 10, 300);
        (new TokenBucket(null, "user$i", 10, 1))->consume();
        (new TokenBucket(null, "first$i:last", 10, 1))->consume();
    }
}
function counts(string ...$names): void
{
    echo json_encode(array_map(fn (string $name): ?int => statistics()[$name]['checked'] ?? null, array_combine($names, $names))), "\n";
}

flood();
$matching = fn (string $pattern): int => count(preg_grep($pattern, array_keys(statistics())));
echo count(statistics()), " names: {$matching('/^user/')} whole identifiers, {$matching('/^first/')} before a colon\n";
counts('', '*');

(new TokenBucket(null, 'user0', 1, 1, name: 'given'))->consume();
limiter('api', 'x')->consume();
limiter('login', 'y')->consume();
(new TokenBucket(null, 'inferred:x', 1, 1))->consume();
counts('given', 'api', 'inferred');
preg_match_all('/^token_bucket_checks_total\{prefix="tb:",limit="(.*)"\} (\d+)$/m', prometheus(), $found);
echo json_encode(array_combine($found[1], $found[2])), "\n";

// A name that is given in one place and inferred in another: clients may have made up a part of its counts.
(new TokenBucket(null, 'user0:x', 1, 1, name: 'user0'))->consume();
counts('user0');
echo preg_match('/limit="user0"\} (\d+)/', prometheus(), $found), " $found[1]\n";

// A limit counts on under its own name when another one has its record.
$old = new TokenBucket(null, 'old:x', 9, 1);
$shared = new TokenBucket(null, 'last:x', 9, 1);
reset_statistics();
$old->consume();
reset_statistics();
(new TokenBucket(null, 'new:x', 9, 1))->consume();
$old->consume();
$shared->consume();
counts('new', 'old', 'last', '*');
?>
--EXPECT--
98 names: 32 whole identifiers, 64 before a colon
{"":400,"*":472}
{"given":1,"api":2,"inferred":null}
{"":"400","*":"128","api":"2","given":"1"}
{"user0":3}
1 1
{"new":1,"old":1,"last":1,"*":473}
