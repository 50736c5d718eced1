<?php
/*
 * A worker of a host: asks for one key as often as it can, or so often a second at random times, and prints what it got after the
 * first second. Arguments: a DSN, the key, the limit, how often.
 */
require __DIR__ . '/../lib/bench.php';

const SECONDS = 3.0;
/** The longest a call may take: its time-out, and what a busy machine adds. */
const BUDGET = 55e6;

[, $dsn, $key, $limit, $rate] = $argv;
$limiter = match ($limit) {
    'bucket' => new TokenBucket($dsn, $key, 1_000_000_000, 1_000_000_000),
    'window' => new TokenBucket\FixedWindow($dsn, $key, 16_000_000, 3_600),
};
for ($tries = 0; $limiter->peek()->isDegraded(); $tries++) {
    $tries < 1_000 || exit(1);
    usleep(10_000);
}
echo "ready\n";
$begin = (int) fgets(STDIN);
$got = ['calls' => 0, 'denied' => 0, 'degraded' => 0, 'slow' => 0];
while (hrtime(true) < $begin) {
    usleep(100);
}
for ($end = $begin + (int) (SECONDS * 1e9); ($called = hrtime(true)) < $end;) {
    $decision = $limiter->attempt();
    $took = hrtime(true) - $called;
    if ($rate > 0) {
        usleep((int) (-1e6 / $rate * log(mt_rand(1, 1_000_000) / 1e6)));
    }
    // First all look for their place: leases grow, and processes that began at once come apart.
    if ($called < $begin + 1e9) {
        continue;
    }
    $got['calls']++;
    $got['slow'] += (int) ($took > BUDGET);
    $got['degraded'] += (int) $decision->isDegraded();
    $got['denied'] += (int) !$decision->isAccepted();
}
echo json_encode($got);
