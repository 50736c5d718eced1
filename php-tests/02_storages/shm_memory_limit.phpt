--TEST--
SharedMemoryStorage: a table that the container's memory has no room for is an error that says so, and the process lives; a smaller one works
--SKIPIF--
<?php
$groups = is_file('/sys/fs/cgroup/cgroup.controllers') ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
if (posix_geteuid() !== 0 || !@mkdir("$groups/tb-skip-" . getmypid())) {
    die('skip needs a control group of its own');
}
$has_memory = is_file("$groups/tb-skip-" . getmypid() . '/memory.stat');
rmdir("$groups/tb-skip-" . getmypid());
if (!$has_memory) {
    die('skip needs a control group with a memory limit');
}
?>
--EXTENSIONS--
posix
--FILE--
<?php
$version = is_file('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1;
$group = ($version === 2 ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory') . '/tb-limit-' . getmypid();
$folder = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/tb-memory-' . getmypid();
mkdir($group);
mkdir($folder);
file_put_contents("$group/" . ($version === 2 ? 'memory.max' : 'memory.limit_in_bytes'), (string) (64 << 20));

$code = '$b = new TokenBucket(null, "x", 1, 1);
    try { var_dump($b->consume()); } catch (TokenBucket\StorageException $e) { echo $e->getMessage(), "\n"; }
    var_dump((new TokenBucket("redis://127.0.0.1:1?on_error=open", "x", 1, 1))->consume());';
foreach (['128M', '60M', '8M'] as $size) {
    $php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS')
        . " -d display_errors=0 -d token_bucket.shm_path=$folder -d token_bucket.shm_size=$size -r " . escapeshellarg($code);
    echo "$size: ", str_replace($folder, '<folder>', (string) shell_exec("echo \$\$ >$group/cgroup.procs && $php 2>&1; echo status $?"));
}
array_map(unlink(...), array_filter([...glob("$folder/*/*"), ...glob("$folder/*/.*")], is_file(...)));
array_map(rmdir(...), glob("$folder/*"));
rmdir($folder);
rmdir($group);
?>
--EXPECTF--
128M: Shared memory <folder>/token_bucket-%d/default.v13 cannot be made: it needs 134217728 bytes, and %d of the container's 67108864 bytes of memory are left; lower token_bucket.shm_size or raise that limit
bool(true)
status 0
60M: Shared memory <folder>/token_bucket-%d/default.v13 cannot be made: it needs 62914560 bytes, and %d of the container's 67108864 bytes of memory are left; lower token_bucket.shm_size or raise that limit
bool(true)
status 0
8M: bool(true)
bool(true)
status 0
