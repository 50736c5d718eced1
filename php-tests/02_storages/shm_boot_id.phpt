--TEST--
SharedMemoryStorage: processes that can read the boot id, processes that cannot, and processes with an id of their own share one table
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

$id = ini_get('token_bucket.shm_path') . '/other-boot-id';
file_put_contents($id, "11111111-2222-3333-4444-555555555555\n");

/* How systemd's ProcSubset=pid and a chroot'ed pool see the system; how a container of nspawn does, with an id of its own; how it is
   by default. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
define('KINDS', [
    'mount -t proc -o subset=pid proc /proc && [ ! -e ' . BOOT_ID . ' ] &&',
    'mount --bind ' . escapeshellarg($id) . ' ' . BOOT_ID . ' &&',
    '',
]);

/** Has both kinds of processes ask in turn, those of $first first; how many calls are accepted. */
function accepted(int $first, int $second): int
{
    $folder = ini_get('token_bucket.shm_path') . "/boot-id-$first-$second";
    mkdir($folder);
    $start = fn (int $kind): Worker => new Worker($folder, KINDS[$kind]);
    $workers = [$start($first), $start($second)];
    $accepted = $workers[0]->consume(1);
    // Those that come and go open the file again and again.
    foreach ([$first, $second, $first, $second] as $kind) {
        $other = $start($kind);
        $accepted += $other->consume(2);
        $other->end();
    }
    until_all_have_looked(function () use (&$accepted, $workers) {
        $accepted += $workers[0]->consume(1) + $workers[1]->consume(1);
    });
    $accepted += $start($first)->consume(20) + $start($second)->consume(20);
    return $accepted;
}

echo 'without an id, then with it: ', accepted(0, 2), "\n";
echo 'with the id, then without: ', accepted(2, 0), "\n";
echo 'with another id, then with this one: ', accepted(1, 2), "\n";
echo 'without an id, then with another one: ', accepted(0, 1), "\n";
?>
--EXPECT--
without an id, then with it: 10
with the id, then without: 10
with another id, then with this one: 10
without an id, then with another one: 10
