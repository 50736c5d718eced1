--TEST--
SharedMemoryStorage: processes that can read the boot id and processes that cannot share one table
--EXTENSIONS--
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can hide the boot id from a process');
}
exec('unshare -m mount --bind /dev/null /proc/sys/kernel/random/boot_id 2>&1', $output, $status);
if ($status !== 0) {
    die('skip needs a mount namespace: ' . implode(' ', $output));
}
?>
--FILE--
<?php
require __DIR__ . '/worker.inc';

/* How systemd's ProcSubset=pid and a chroot'ed pool see the system, and how it is by default. */
const KINDS = ['mount -t proc -o subset=pid proc /proc && [ ! -e /proc/sys/kernel/random/boot_id ] &&', ''];

/** Has both kinds of processes ask in turn, those of $first first; how many calls are accepted. */
function accepted(string $name, int $first): int
{
    $folder = ini_get('token_bucket.shm_path') . "/$name";
    mkdir($folder);
    $start = fn (int $kind): Worker => new Worker($folder, KINDS[$kind]);
    $workers = [$start($first), $start(1 - $first)];
    $accepted = $workers[0]->consume(1);
    // Those that come and go open the file again and again.
    for ($i = 0; $i < 4; $i++) {
        $other = $start($i % 2);
        $accepted += $other->consume(2);
        $other->end();
    }
    until_all_have_looked(function () use (&$accepted, $workers) {
        $accepted += $workers[0]->consume(1) + $workers[1]->consume(1);
    });
    $accepted += $start(0)->consume(20) + $start(1)->consume(20);
    return $accepted;
}

echo 'the first without: ', accepted('boot-id-without', 0), "\n";
echo 'the first with: ', accepted('boot-id-with', 1), "\n";
?>
--EXPECT--
the first without: 10
the first with: 10
