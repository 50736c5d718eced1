--TEST--
SharedMemoryStorage: with refill running, 8 processes never get more than capacity + rate x time
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/processes.inc';

$start = hrtime(true);
$counts = in_processes(8, function () {
    $bucket = new TokenBucket(null, 'refill', 100, 5_000);
    $accepted = 0;
    for ($try = 0; $try < 20_000; $try++) {
        $accepted += (int) $bucket->consume();
    }
    return $accepted;
});
$seconds = (hrtime(true) - $start) / 1e9;
$bound = 100 + 5_000 * $seconds;
var_dump(array_sum($counts) <= $bound, array_sum($counts) >= 100);
?>
--EXPECT--
bool(true)
bool(true)
