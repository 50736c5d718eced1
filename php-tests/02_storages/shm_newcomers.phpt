--TEST--
SharedMemoryStorage: new clients that a table too small for them denies are counted: in the table, and as evictions of their limit
--INI--
token_bucket.shm_size=64K
--FILE--
<?php
use function TokenBucket\{prometheus, statistics, status};
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);
ini_set('token_bucket.storage', 'shm:newcomers');
$denied = ['bucket' => 0, 'greedy' => 0];
for ($i = 0; $i < 12_000; $i++) {
    $denied['bucket'] += (int) !(new TokenBucket(null, "bucket:$i", 1, 0.001))->consume();
    // More tokens than its bucket can hold: denied with any table.
    $denied['greedy'] += (int) !(new TokenBucket(null, "greedy:$i", 1, 0.001))->consume(2);
}
['tables' => [$table], 'limits' => $limits] = status();
var_dump($table['slots'] < 4_096, $table['used'] > 0.9 * $table['slots']);
// Each client is new, and its bucket of one is full: it is denied because the table was full alone.
var_dump($denied['bucket'] > 5_000, $table['denied_newcomers'] === $denied['bucket'], $limits['bucket']['denied'] === $denied['bucket']);
var_dump($limits['bucket']['evictions'] === $denied['bucket'] + $table['evictions']);
var_dump($denied['greedy'], $limits['greedy']['evictions']);
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
int(12000)
int(0)
