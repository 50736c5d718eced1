--TEST--
TokenBucket: __construct(): storages, named arguments, being called again
--FILE--
<?php
require __DIR__ . '/../utils.inc';

$default = new TokenBucket(null, __FILE__, 1, 0.001);
var_dump($default->consume(), (new TokenBucket('shm:', __FILE__, 1, 0.001))->consume());
// The DSN names this process; an object is by itself.
$array = new TokenBucket('array:', 'x', 1, 0.001);
var_dump($array->consume(), (new TokenBucket('array:', 'x', 1, 0.001))->consume());
$own = new TokenBucket\ArrayStorage;
var_dump((new TokenBucket($own, 'x', 1, 0.001))->consume(), (new TokenBucket($own, 'x', 1, 0.001))->consume());
$shared = new TokenBucket\SharedMemoryStorage('shm:');
var_dump((new TokenBucket($shared, __FILE__, 1, 0.001))->consume());

$named = new TokenBucket(tokens_per_second: 0.001, bucket_capacity: 2, identifier: 'y', storage: 'array:');
echo times(3, fn () => $named->consume()), "\n";
$named->__construct('array:', 'z', 1, 0.001);
echo times(3, fn () => $named->consume()), "\n";

// The identifier is the string it was, whatever becomes of the variable.
$id = str_repeat('i', 3);
$kept = new TokenBucket('array:', $id, 1, 0.001);
$id[0] = 'j';
$id .= 'k';
unset($id);
var_dump($kept->consume(), (new TokenBucket('array:', 'iii', 1, 0.001))->consume());
var_dump($kept);
?>
--EXPECTF--
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
110
100
bool(true)
bool(false)
object(TokenBucket)#%d (3) {
  ["identifier"]=>
  string(3) "iii"
  ["bucket_capacity"]=>
  int(1)
  ["tokens_per_second"]=>
  float(0.001)
}
