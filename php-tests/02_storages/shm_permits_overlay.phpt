--TEST--
SharedMemoryStorage: on overlayfs, where a descriptor keeps the lock of a process, permits hold, end with their process, and are freed by no process whose descriptors stand for other files
--EXTENSIONS--
ffi
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can mount');
}
exec('unshare -m sh -c "mount -t tmpfs none /mnt && mkdir /mnt/a /mnt/b && mount -t overlay -o lowerdir=/usr,upperdir=/mnt/a,workdir=/mnt/b none /usr" 2>&1', $output, $status);
if ($status !== 0) {
    die('skip needs a mount namespace with overlayfs: ' . implode(' ', $output));
}
?>
--FILE--
<?php
require dirname(__DIR__) . '/permit_process.inc';

if (!getenv('TB_APART')) {
    $php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.shm_path=/mnt/merged';
    $mount = 'mount -t tmpfs none /mnt && cd /mnt && mkdir lower upper work merged && mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged';
    passthru('TB_APART=1 unshare -m sh -c ' . escapeshellarg("$mount && exec $php " . escapeshellarg(__FILE__)));
    exit;
}

$process = fn (): PermitProcess => new PermitProcess('shm:', 2);
[$first, $second, $denied, $last] = [$process(), $process(), $process(), $process()];
echo $denied->ask_all('acquire', 'release', 'replace'), ' ', $first->ask('acquire'), ' ', $second->ask('acquire'), "\n";
echo $denied->ask_all('acquire', 'acquire', 'active'), ', ', $first->ask('renew'), ' ', $second->ask('renew'), "\n";
$first->kill();
echo $last->ask_all('active', 'acquire', 'acquire', 'active'), "\n";
// A process frees none of its own.
$second->end();
echo $last->ask_all('acquire', 'acquire', 'active'), "\n";
?>
--EXPECT--
yes done done yes yes
no no 2, true true
1 yes no 2
yes no 2
