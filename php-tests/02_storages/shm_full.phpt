--TEST--
SharedMemoryStorage: a full file system, in bytes or in files, gives a clear error and no signal, and status() has the same
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
    echo json_encode(TokenBucket\status()["shared_memory_errors"], JSON_UNESCAPED_SLASHES), "\n";
    foreach (glob("' . $folder . '/*") as $directory) { echo implode(" ", scandir($directory)), "\n"; }';
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS')
    . ' -d token_bucket.shm_path=' . $folder . ' -d token_bucket.shm_size=8M -r ' . escapeshellarg($code);
// An inode is the folder itself, the next the directory, the third the file.
foreach (['size=4m', 'size=64m,nr_inodes=1', 'size=64m,nr_inodes=2', 'size=64m,nr_inodes=3'] as $options) {
    $script = "mount -t tmpfs -o $options none $folder && $php";
    echo "$options:\n", str_replace($folder, '<folder>', shell_exec('unshare -rm sh -c ' . escapeshellarg($script) . ' 2>&1'));
}
rmdir($folder);
?>
--EXPECTF--
size=4m:
Shared memory <folder>/token_bucket-%d/default.v13 cannot be made: no space for its 8388608 bytes; lower token_bucket.shm_size or set token_bucket.shm_path
["Shared memory <folder>/token_bucket-%d/default.v13 cannot be made: no space for its 8388608 bytes; lower token_bucket.shm_size or set token_bucket.shm_path"]
. .. .statistics.v13
size=64m,nr_inodes=1:
Shared memory <folder>/token_bucket-%d cannot be made: its file system has no free inode (see df -i) for one more file; remove some or set token_bucket.shm_path
["Shared memory <folder>/token_bucket-%d cannot be made: its file system has no free inode (see df -i) for one more file; remove some or set token_bucket.shm_path"]
size=64m,nr_inodes=2:
Shared memory <folder>/token_bucket-%d/default.v13 cannot be made: its file system has no free inode (see df -i) for one more file; remove some or set token_bucket.shm_path
["Shared memory <folder>/token_bucket-%d/default.v13 cannot be made: its file system has no free inode (see df -i) for one more file; remove some or set token_bucket.shm_path","Shared memory <folder>/token_bucket-%d/.statistics.v13 cannot be made: its file system has no free inode (see df -i) for one more file; remove some or set token_bucket.shm_path"]
. ..
size=64m,nr_inodes=3:
["Shared memory <folder>/token_bucket-%d/.statistics.v13 cannot be made: its file system has no free inode (see df -i) for one more file; remove some or set token_bucket.shm_path"]
. .. default.v13
