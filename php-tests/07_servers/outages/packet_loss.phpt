--TEST--
Servers: a lost packet costs the call that it belonged to; other processes and later calls are answered
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
exec('unshare -n sh -c "ip link set lo up && nft add table ip loss" 2>&1', $output, $status);
if ($status !== 0) {
    die('skip no packets can be lost here: ' . end($output));
}
?>
--CONFLICTS--
all
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

// Measured by hand: one packet of 10,000 lost degraded 0.02 % of calls on Redis, one of 1,000 0.2 %, one of 100 some 2 %, twice that on memcached. One of 50,
// with 20 workers and 1,000 calls a second: 4 to 7 % on Redis and memcached, 5 to 8 % on MariaDB.
// A network of the test's own, in which this process and its children lose packets of the loopback interface.
pcntl_unshare(CLONE_NEWNET);
exec('ip link set lo up && nft add table ip loss && nft "add chain ip loss out { type filter hook output priority 0; }"');
const WORKERS = 6;
const CALLS_A_SECOND = 2_300;
const SECONDS = 2;

/** The share of calls, in percent, that are not decided by the server while so many packets of 10,000 are lost, and the first warning of each process. */
function degraded(Server $server, int $lost): array
{
    exec("nft flush table ip loss && nft add rule ip loss out tcp sport $server->port numgen random mod 10000 lt $lost drop && nft add rule ip loss out tcp dport $server->port numgen random mod 10000 lt $lost drop", $output, $status);
    $status === 0 || give_up('no rule');
    $results = at_once(WORKERS, fn (int $worker): callable => function () use ($worker, $server): array {
        $bucket = new TokenBucket($server->dsn(), "client $worker", 1_000_000_000, 1_000_000);
        [$degraded, $warning] = [0, null];
        $calls = intdiv(CALLS_A_SECOND * SECONDS, WORKERS);
        error_clear_last();
        $begin = hrtime(true);
        for ($call = 1; $call <= $calls; $call++) {
            $degraded += (int) @$bucket->attempt()->isDegraded();
            $warning ??= error_get_last() ? "call $call: " . error_get_last()['message'] : null;
            usleep(max(0, intdiv($begin + intdiv($call * SECONDS * 1_000_000_000, $calls) - hrtime(true), 1_000)));
        }
        return [$degraded, $warning];
    });
    return [100 * array_sum(array_column($results, 0)) / (CALLS_A_SECOND * SECONDS), implode(', ', array_column($results, 1))];
}

// memcached is asked twice for each decision, so a call meets twice as many lost packets.
foreach (['redis' => 1, 'memcached' => 2] as $kind => $trips) {
    $server = new Server($kind);
    foreach ([1 => 0.2, 10 => 1, 100 => 5] as $lost => $most) {
        // A process that loses four packets in a row, one run in thirty, pauses for longer than the others.
        [$share, $warnings] = within_three_tries($trips * $most, fn (): array => degraded($server, $lost));
        printf("%s, %.2f %% lost: %s\n", $kind, $lost / 100, $share <= $trips * $most ? 'others go on' : "$share % degraded: $warnings");
    }
}
?>
--EXPECT--
redis, 0.01 % lost: others go on
redis, 0.10 % lost: others go on
redis, 1.00 % lost: others go on
memcached, 0.01 % lost: others go on
memcached, 0.10 % lost: others go on
memcached, 1.00 % lost: others go on
