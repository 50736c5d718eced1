--TEST--
SharedMemoryStorage: a file or directory of another user is refused and left unchanged
--EXTENSIONS--
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can give files away');
}
?>
--FILE--
<?php
require __DIR__ . '/../utils.inc';

$file = ini_get('token_bucket.shm_path') . '/token_bucket-0/foreign.v13';
(new TokenBucket('shm:foreign', 'x', 1, 1))->consume();
$content = md5_file($file);
chown($file, 65534);
// Names of tables are opened once in a process: a child opens it anew.
$open = fn () => preg_replace('~/\S*/~', '', (string) shell_exec(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -r '
    . escapeshellarg('try { (new TokenBucket("shm:foreign", "x", 1, 1))->consume(); } catch (TokenBucket\StorageException $e) { echo $e->getMessage(); }')));
echo $open(), "\n";
var_dump(fileowner($file), md5_file($file) === $content);
chown($file, 0);
echo $open(), "served\n";
unlink($file);
?>
--EXPECT--
Shared memory foreign.v13 belongs to user 65534; remove it
int(65534)
bool(true)
served
