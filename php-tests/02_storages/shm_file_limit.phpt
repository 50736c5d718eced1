--TEST--
SharedMemoryStorage: a limit on file sizes gives a clear error and no signal
--FILE--
<?php
$folder = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/tb-limit-' . getmypid();
mkdir($folder);
$code = '$b = new TokenBucket(null, "x", 1, 1);
    try { $b->consume(); } catch (TokenBucket\StorageException $e) { echo $e->getMessage(), "\n"; }
    var_dump((new TokenBucket("redis://127.0.0.1:1?on_error=open", "x", 1, 1))->consume());';
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS')
    . ' -d display_errors=0 -d token_bucket.shm_path=' . $folder . ' -d token_bucket.shm_size=8M -r ' . escapeshellarg($code);
echo str_replace($folder, '<folder>', (string) shell_exec("ulimit -f 100; $php 2>&1; echo status $?"));
array_map(unlink(...), array_filter([...glob("$folder/*/*"), ...glob("$folder/*/.*")], is_file(...)));
array_map(rmdir(...), glob("$folder/*"));
rmdir($folder);
?>
--EXPECTF--
Shared memory <folder>/token_bucket-%d/default.v13 cannot be made: this process may not write a file of 8388608 bytes; lower token_bucket.shm_size or raise RLIMIT_FSIZE (ulimit -f)
bool(true)
status 0
