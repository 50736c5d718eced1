--TEST--
The PDO storages of the examples: keep their contract, and decide 1,000 random calls as native storages do
--EXTENSIONS--
posix
mysqlnd
pdo
pdo_mysql
pdo_sqlite
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/pdo.inc';
use TokenBucket\TestClock;

/** Takes seconds of twelve, from a bucket that has a record. */
function take(TokenBucketStorage $storage, float $seconds): bool
{
    return $storage->consume('x', $seconds, 12, fn () => exit('There is a record'));
}

$table = 'pdo_' . bin2hex(random_bytes(4));
$databases = databases();
foreach (storages($table, frozen: true) as $engine => $storage) {
    echo "$engine\n";
    $storage->time = 1000;
    $storage->bootstrap('x', 995.25);
    $storage->prepare(); // leaves what is there
    // 4.75 are there.
    var_dump(take($storage, 5), take($storage, 4), take($storage, 1));
    echo json_encode(records($databases[$engine], $table)), "\n";
    // Twelve at most, however long it was.
    $storage->time = 2000;
    var_dump(take($storage, 12), take($storage, 1));
    // No digit is lost.
    $storage->time = 1_700_000_000.0625;
    var_dump(take($storage, 0.0009765625));
    echo json_encode(records($databases[$engine], $table)), "\n";
    // Without a record the closure decides; the one it makes stays if it says so.
    foreach ([false, true] as $answer) {
        var_dump($storage->consume('y', 1, 12, function () use ($storage, $answer) {
            $storage->bootstrap('y', 3);
            return $answer;
        }));
        echo json_encode(array_keys(records($databases[$engine], $table))), "\n";
    }
}

// Names are quoted.
foreach (storages("it`s \"quoted\" $table", frozen: true) as $storage) {
    var_dump((new TokenBucket($storage, "'; DROP", 1, 1))->consume(), (new TokenBucket($storage, "'; DROP", 1, 1))->consume());
}

// The classic calls, as their article has them, on storages of both kinds at the same time. Times are
// 64ths of seconds, which are exact in a float: so are all decisions, those at the very tick too.
$pdo = storages($table, frozen: true);
$storages = ['shm' => 'shm:', 'array' => new TokenBucket\ArrayStorage] + $pdo;
mt_srand($seed = 20170303);
$run = bin2hex(random_bytes(8));
TestClock::freeze($time = 1_000_000);
$accepted = 0;
for ($call = 1; $call <= 1_000; $call++) {
    $step = mt_rand(0, 4) * mt_rand(0, 32) / 64;
    TestClock::advance($step);
    $time += $step;
    $client = mt_rand(1, 5);
    $tokens = mt_rand(0, 12);
    $decisions = [];
    foreach ($storages as $name => $storage) {
        if (isset($pdo[$name])) {
            $storage->time = $time;
        }
        $bucket = new TokenBucket($storage, "$run $client", 10, 1);
        $decisions[$name] = $bucket->consume($tokens);
    }
    if (count(array_unique($decisions)) > 1) {
        exit("Seed $seed, call $call, $tokens tokens for client $client at $time: " . json_encode($decisions));
    }
    $accepted += (int) $decisions['shm'];
}
echo "1,000 calls, $accepted accepted\n";
foreach ($databases as $db) {
    $db->exec("DROP TABLE $table");
}
?>
--EXPECT--
mysql
bool(false)
bool(true)
bool(false)
{"x":999.25}
bool(true)
bool(false)
bool(true)
{"x":1699999988.0634766}
bool(false)
["x"]
bool(true)
["x","y"]
sqlite
bool(false)
bool(true)
bool(false)
{"x":999.25}
bool(true)
bool(false)
bool(true)
{"x":1699999988.0634766}
bool(false)
["x"]
bool(true)
["x","y"]
bool(true)
bool(false)
bool(true)
bool(false)
1,000 calls, 558 accepted
