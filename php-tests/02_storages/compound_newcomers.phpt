--TEST--
Compound on a table too small for its clients: a denied newcomer is counted once in the statistics of its limit
--INI--
token_bucket.shm_size=64K
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
run_apart(__FILE__);
$denied = 0;
for ($i = 0; $i < 12_000; $i++) {
    $compound = new TokenBucket\Compound(new TokenBucket('shm:newcomers', "bucket:$i", 1, 0.001), new TokenBucket('shm:other', 'all:clients', 100_000, 1));
    $denied += (int) !$compound->consume();
}
['tables' => $tables, 'limits' => $limits] = TokenBucket\status();
$evictions = array_sum(array_column(array_filter($tables, fn (array $table): bool => $table['name'] === 'newcomers'), 'evictions'));
var_dump($denied > 5_000, $limits['bucket']['denied'] === $denied, $limits['bucket']['evictions'] === $denied + $evictions);
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
