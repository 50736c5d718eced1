--TEST--
What PHP code can see: ini_get() returns the DSN as it was set, and open_basedir does not restrict shared memory
--INI--
token_bucket.storage=redis://user:hunter2@127.0.0.1:1
token_bucket.on_error=throw
--FILE--
<?php
var_dump(ini_get('token_bucket.storage'), str_contains(print_r(ini_get_all('token_bucket'), true), 'hunter2'));
ob_start();
phpinfo(INFO_CONFIGURATION | INFO_MODULES);
var_dump(str_contains(ob_get_clean(), 'hunter2'));

ini_set('open_basedir', __DIR__);
var_dump((new TokenBucket('shm:', __FILE__, 1, 0.001))->consume(), @file_get_contents('/etc/hostname'));
?>
--EXPECT--
string(32) "redis://user:hunter2@127.0.0.1:1"
bool(true)
bool(false)
bool(true)
bool(false)
