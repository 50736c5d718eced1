--TEST--
Servers: while another process makes the host's file, fallback denies; no process accepts from a bucket of its own
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/utils.inc';
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

run_apart(__FILE__);

// No file has been made so far.
$own = ini_get('token_bucket.shm_path') . '/token_bucket-' . posix_geteuid();
is_dir($own) && remove($own);
mkdir($own, 0700);

// As a process does that makes a file, until ten others have called for half a second.
$lock = fopen($own, 'r');
if (!$lock || !flock($lock, LOCK_EX)) {
    give_up('not locked');
}
$called = ini_get('token_bucket.shm_path') . '/called.';
$pid = pcntl_fork();
if ($pid === 0) {
    wait_until(fn (): bool => count(glob("$called*")) === 10);
    flock($lock, LOCK_UN);
    touch("$own/../unlocked");
    posix_kill(posix_getpid(), SIGKILL);
}
fclose($lock);

$accepted = at_once(10, fn (int $worker): callable => function () use ($worker, $called, $own): array {
    $bucket = new TokenBucket('redis://127.0.0.1:1', 'x', 10, 0.0001);
    $before = $after = 0;
    for ($end = hrtime(true) + 500_000_000; hrtime(true) < $end; usleep(5_000)) {
        $before += (int) @$bucket->consume();
    }
    touch("$called$worker");
    // It is looked at once a second, by the system's clock.
    wait_until(fn (): bool => file_exists("$own/../unlocked"));
    usleep(1_100_000);
    for ($call = 0; $call < 10; $call++) {
        $after += (int) @$bucket->consume();
    }
    return [$before, $after];
});
echo 'while the file is made: ', array_sum(array_column($accepted, 0)), "\n";
echo 'of a bucket of 10: ', array_sum(array_column($accepted, 1)), "\n";
?>
--EXPECT--
while the file is made: 0
of a bucket of 10: 10
