<?php
/*
 * A host: asks as often as it can for some time, and prints how many decisions it got. Arguments: a DSN, and which buckets.
 */
require __DIR__ . '/hosts.php';
require __DIR__ . '/work.php';

[, $dsn, $keys] = $argv;
$calls = scale_calls($dsn, $keys);
$calls(100);
echo "ready\n";
$begin = (int) fgets(STDIN);
while (hrtime(true) < $begin) {
}
// Batches of about a millisecond of the quickest calls; the last one may end late.
$batch = str_contains($dsn, '&lease=0') || $keys === 'quiet' ? 10 : 1_000;
$end = $begin + (int) (HOST_SECONDS * 1e9);
for ($done = 0; hrtime(true) < $end; $done += $batch) {
    $calls($batch);
}
echo $done;
