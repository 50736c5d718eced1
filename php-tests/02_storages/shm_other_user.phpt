--TEST--
SharedMemoryStorage: a child that becomes another user leaves its parent's table within a second
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can become another user');
}
?>
--FILE--
<?php
require dirname(__DIR__) . '/processes.inc';

chmod(ini_get('token_bucket.shm_path'), 01777);
$bucket = new TokenBucket('shm:other_user', __FILE__, 1, 0.001);
var_dump($bucket->consume(), $bucket->consume());
[$answer] = in_processes(1, function () use ($bucket) {
    posix_setuid(posix_getpwnam('nobody')['uid']);
    // The table is looked at once a second, by the system's clock; until then the parent's is used.
    usleep(1_100_000);
    return var_export($bucket->consume(), true) . ' ' . var_export($bucket->consume(), true);
});
echo $answer, "\n";
var_dump($bucket->consume());
?>
--EXPECT--
bool(true)
bool(false)
true false
bool(false)
