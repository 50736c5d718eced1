--TEST--
SharedMemoryStorage: when the file or its directory is moved, linked elsewhere or mounted over, old and new processes share one table within a second
--EXTENSIONS--
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can mount');
}
exec('unshare -m mount -t tmpfs none /mnt 2>&1', $output, $status);
if ($status !== 0) {
    die('skip needs a mount namespace: ' . implode(' ', $output));
}
?>
--FILE--
<?php
require __DIR__ . '/worker.inc';

if (!getenv('TB_APART')) {
    $php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS');
    passthru("TB_APART=1 unshare -m $php " . escapeshellarg(__FILE__));
    exit;
}

$commands = [
    'the file is moved' => 'mv token_bucket-0/default.v13 elsewhere',
    'the file is removed, a second link stays' => 'ln token_bucket-0/default.v13 elsewhere && rm token_bucket-0/default.v13',
    'the directory is moved' => 'mv token_bucket-0 elsewhere',
    'a file system is mounted over the directory' => 'mount -t tmpfs -o mode=700 none token_bucket-0',
    'a file system is mounted over all' => 'mount -t tmpfs none .',
];
$old = [];
foreach (array_keys($commands) as $i => $what) {
    $folder = ini_get('token_bucket.shm_path') . "/moved-$i";
    mkdir($folder);
    $old[$what] = new Worker($folder);
    // So that the old table has nothing more to give.
    $taken = $old[$what]->consume(20);
    passthru('cd ' . escapeshellarg($folder) . " && $commands[$what]", $status);
    $new = new Worker($folder);
    echo "$what: ", $status === 0 ? '' : 'not done, ', "taken $taken, then ", $new->consume(20), "\n";
    $new->refund(3);
}
// What the new process has given back, the old one gets once it shares the table.
$accepted = array_fill_keys(array_keys($old), 0);
until_all_have_looked(function () use ($old, &$accepted) {
    foreach ($old as $what => $worker) {
        $accepted[$what] += $worker->consume(1);
    }
});
foreach (array_keys($commands) as $i => $what) {
    $new = new Worker(ini_get('token_bucket.shm_path') . "/moved-$i");
    echo "$what: $accepted[$what] of 3, ", $new->consume(20), " left\n";
}
?>
--EXPECT--
the file is moved: taken 10, then 10
the file is removed, a second link stays: taken 10, then 10
the directory is moved: taken 10, then 10
a file system is mounted over the directory: taken 10, then 10
a file system is mounted over all: taken 10, then 10
the file is moved: 3 of 3, 0 left
the file is removed, a second link stays: 3 of 3, 0 left
the directory is moved: 3 of 3, 0 left
a file system is mounted over the directory: 3 of 3, 0 left
a file system is mounted over all: 3 of 3, 0 left
