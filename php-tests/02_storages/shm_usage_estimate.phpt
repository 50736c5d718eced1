--TEST--
TokenBucket\status(): how full a table above 16 MiB is, from a part of it
--INI--
token_bucket.shm_size=64M
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
run_apart(__FILE__);

const BUCKETS = 100_000;
for ($i = 0; $i < BUCKETS; $i++) {
    (new TokenBucket('shm:', "client:$i", 10, 0.001))->consume();
}
['slots' => $slots, 'used' => $used] = TokenBucket\status()['tables'][0];
var_dump($slots > 4_000_000, abs($used - BUCKETS) < BUCKETS / 20 ? 'about all' : $used);
?>
--EXPECT--
bool(true)
string(9) "about all"
