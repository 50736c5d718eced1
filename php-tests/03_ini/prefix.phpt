--TEST--
ini: token_bucket.prefix separates applications, and a DSN's own prefix overrides it
--INI--
token_bucket.prefix=shop:
--FILE--
<?php
$take = fn (?string $dsn) => (int) (new TokenBucket($dsn, __FILE__, 1, 0.001))->consume();

var_dump(ini_get('token_bucket.prefix'));
echo $take(null), $take('shm:'), $take('shm:?prefix=shop:'), "\n";
echo $take('shm:?prefix=blog:'), $take('shm:?prefix='), "\n";
// A DSN's prefix stays when the directive changes.
ini_set('token_bucket.prefix', 'blog:');
echo $take(null), $take('shm:?prefix=shop:'), "\n";
ini_set('token_bucket.prefix', '');
echo $take(null), "\n";
ini_set('token_bucket.prefix', "\0\xff");
echo $take(null), $take(null), $take('shm:?prefix=%00%ff'), "\n";
ini_restore('token_bucket.prefix');
var_dump(ini_get('token_bucket.prefix'));
echo $take(null), "\n";
// The same for storages that are objects: they have the prefix of the moment they were made in.
$shop = new TokenBucket\ArrayStorage;
ini_set('token_bucket.prefix', 'blog:');
$on = fn ($storage) => (int) (new TokenBucket($storage, 'x', 1, 0.001))->consume();
echo $on($shop), $on($shop), "\n";
// A value that is refused leaves the last one in force.
var_dump(@ini_set('token_bucket.prefix', str_repeat('x', 65)), ini_get('token_bucket.prefix'));
echo $take(null), "\n";
?>
--EXPECT--
string(5) "shop:"
100
11
00
0
100
string(5) "shop:"
0
10
bool(false)
string(5) "blog:"
0
