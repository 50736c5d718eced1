--TEST--
ini: ini_set() accepts valid values, and refuses invalid ones and system directives
--FILE--
<?php
$take = fn () => (new TokenBucket(null, __FILE__, 1, 0.001))->consume();
var_dump($take(), $take());

// Another prefix is another bucket.
var_dump(ini_set('token_bucket.prefix', 'other:'), $take(), $take());
ini_restore('token_bucket.prefix');
var_dump($take());

var_dump(ini_set('token_bucket.storage', 'array:?prefix=tb:'), $take(), $take());
// A bucket keeps the store and prefix it was made with; a DSN's own prefix wins.
$kept = new TokenBucket(null, 'kept', 1, 0.001);
var_dump($kept->consume());
ini_set('token_bucket.prefix', 'again:');
var_dump($kept->consume(), (new TokenBucket(null, 'kept', 1, 0.001))->consume());

// And what is in this process's memory stays, whatever is set.
ini_set('token_bucket.prefix', 'tb:');
var_dump($take());

var_dump(ini_set('token_bucket.storage', 'nowhere:'));
var_dump(ini_set('token_bucket.prefix', str_repeat('x', 65)));
var_dump(ini_set('token_bucket.shm_size', '1M'), ini_set('token_bucket.shm_path', '/tmp'), ini_set('token_bucket.test_clock', '1'));
var_dump(ini_get('token_bucket.storage'));
?>
--EXPECTF--
bool(true)
bool(false)
string(3) "tb:"
bool(true)
bool(false)
bool(false)
string(4) "shm:"
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
bool(false)

Warning: ini_set(): token_bucket.storage must be a storage DSN (Unknown scheme "nowhere:" in the storage DSN, known are shm:, %s); "array:?prefix=tb:" stays in force in %s on line %d
bool(false)

Warning: ini_set(): token_bucket.prefix must be at most 64 bytes, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." given; "tb:" stays in force in %s on line %d
bool(false)
bool(false)
bool(false)
bool(false)
string(17) "array:?prefix=tb:"
