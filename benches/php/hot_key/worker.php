<?php
/*
 * A worker of a host: asks for one key as often as it can for some time, and prints what it got. Arguments: a DSN, and the key.
 */
require __DIR__ . '/../lib/bench.php';

const SECONDS = 3.0;
/** The longest a call may take: its time-out, and what a busy machine adds. */
const BUDGET = 55e6;

[, $dsn, $key] = $argv;
$bucket = new TokenBucket($dsn, $key, 1_000_000_000, 1_000_000_000);
for ($tries = 0; $bucket->peek()->isDegraded(); $tries++) {
    $tries < 1_000 || exit(1);
    usleep(10_000);
}
echo "ready\n";
$begin = (int) fgets(STDIN);
$got = ['calls' => 0, 'denied' => 0, 'degraded' => 0, 'slow' => 0];
while (hrtime(true) < $begin) {
    usleep(100);
}
for ($end = $begin + (int) (SECONDS * 1e9); ($called = hrtime(true)) < $end; $got['calls']++) {
    $decision = $bucket->attempt();
    $got['slow'] += (int) (hrtime(true) - $called > BUDGET);
    $got['degraded'] += (int) $decision->isDegraded();
    $got['denied'] += (int) !$decision->isAccepted();
}
echo json_encode($got);
