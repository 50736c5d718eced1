--TEST--
SharedMemoryStorage: a full file system gives a clear error, and no signal
--SKIPIF--
<?php
exec('unshare -rm true 2>&1', $output, $status);
if ($status !== 0) {
    die('skip needs a mount namespace to make a small file system in: ' . implode(' ', $output));
}
?>
--FILE--
<?php
$folder = sys_get_temp_dir() . '/tb-full-' . getmypid();
mkdir($folder);
$code = '$b = new TokenBucket(null, "x", 1, 1);
    try { $b->consume(); } catch (TokenBucket\StorageException $e) { echo $e->getMessage(), "\n"; }
    echo implode(" ", scandir(glob("' . $folder . '/*")[0])), "\n";';
$extension = ini_get('extension') ?: '';
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS')
    . ' -d token_bucket.shm_path=' . $folder . ' -d token_bucket.shm_size=8M -r ' . escapeshellarg($code);
$script = "mount -t tmpfs -o size=1m none $folder && $php";
echo str_replace($folder, '<folder>', shell_exec('unshare -rm sh -c ' . escapeshellarg($script) . ' 2>&1'));
rmdir($folder);
?>
--EXPECTF--
Shared memory <folder>/token_bucket-%d/default.v4 cannot be made: no space for its 8388608 bytes; lower token_bucket.shm_size or set token_bucket.shm_path
. .. .statistics.v4
