--TEST--
SharedMemoryStorage: in a container whose root is read-only, or that has no /dev/shm, the error names the directive, on_error answers, and a shm_path helps
--SKIPIF--
<?php
exec('unshare --mount --map-root-user true 2>&1', $output, $status);
if ($status !== 0) {
    die('skip needs a namespace of its own');
}
?>
--FILE--
<?php
$tables = sys_get_temp_dir() . '/tb-read-only-' . getmypid();
mkdir($tables);
$code = 'try { var_dump((new TokenBucket(null, "x", 1, 1))->consume()); }
    catch (TokenBucket\StorageException $e) { echo $e->getMessage(), "\n"; }
    var_dump((new TokenBucket("redis://127.0.0.1:1?on_error=fallback", "x", 1, 1))->consume());';
preg_match('~-d "?extension=([^" ]+)~', getenv('TEST_PHP_EXTRA_ARGS'), $extension);
$php = fn (string $path): string => escapeshellarg(PHP_BINARY) . " -n -d extension=$extension[1] -d display_errors=0 -d token_bucket.shm_path=$path -r " . escapeshellarg($code);
$mounts = [
    'read-only' => 'mount -t tmpfs -o ro none /dev/shm && ' . $php(''),
    'no /dev/shm' => 'mount -t tmpfs none /dev && ' . $php(''),
    'no /dev/shm, but a shm_path' => "mount -t tmpfs none /dev && mount -t tmpfs none $tables && " . $php($tables),
];
foreach ($mounts as $name => $command) {
    $shell = 'unshare --mount --map-root-user sh -c ' . escapeshellarg("$command 2>&1");
    echo "$name: ", preg_replace('~token_bucket-\d+~', 'token_bucket-UID', (string) shell_exec($shell));
}
rmdir($tables);
?>
--EXPECT--
read-only: Shared memory /dev/shm/token_bucket-UID cannot be made: its file system is read-only; set token_bucket.shm_path to a directory that can be written
bool(true)
no /dev/shm: Cannot open the directory /dev/shm for shared memory: No such file or directory (os error 2); set token_bucket.shm_path to one that exists
bool(true)
no /dev/shm, but a shm_path: bool(true)
bool(true)
