--TEST--
MariaDB and MySQL: rows survive kills, stops and restarts under load, and calls are decided by the server again afterwards
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$server = new Server(SQL_SERVER);
prepared($server->dsn());

/** The answers of a bucket of three: four times, the decision, check(). */
function answers(TokenBucket $bucket): string
{
    try {
        $told = array_map(fn (): string => $bucket->consume() ? 'yes' : 'no', range(1, 4));
        $told[] = $bucket->attempt()->isDegraded() ? 'degraded' : 'by the store';
        $told[] = $bucket->check('client', 1, 1000) ? 'limited' : 'not limited';
        $bucket->refund(0);
        return implode(', ', $told);
    } catch (TokenBucket\StorageException $e) {
        return preg_replace(['/:\d{4,}/', '/\d\.\d s/'], [':PORT', 'N s'], $e->getMessage());
    }
}

// A server that fails again within a second of its return has not come back: there is no second warning.
function wait_until_a_new_outage_counts(): void
{
    sleep(1);
}

foreach (['fallback', 'open', 'closed', 'throw'] as $policy) {
    $bucket = new TokenBucket($server->dsn("timeout_ms=2000&connect_timeout_ms=2000&on_error=$policy"), $policy, 3, 0.0001);
    $bucket->consume();
    $bucket->check('client', 1, 1000);
    $server->kill();
    echo warning_of_outage($server->dsn('on_error=' . ($policy === 'throw' ? 'open' : $policy))), "\n";
    // Calls do not warn again.
    $said = warnings(function () use ($policy, $bucket): void {
        echo $policy, ': ', answers($bucket), "\n";
    });
    echo implode("\n", $said);
    $server->start();
    wait_until_back($bucket);
    // What was taken before the outage is still missing, and check() still limits.
    echo implode("\n", warnings(fn () => print(answers($bucket) . "\n"))), "\n";
    wait_until_a_new_outage_counts();
}

// Stopped.
$bucket = new TokenBucket($server->dsn('timeout_ms=200&on_error=closed'), 'stopped', 100_000, 0.001);
$own = 0;
$take = function () use ($bucket, &$own): bool {
    $decision = $bucket->attempt();
    $own += (int) $decision->isAccepted();
    return $decision->isDegraded();
};
// On a busy machine the server may be late for some of them.
$take_until = function (int $accepted) use ($take, $bucket, &$own): void {
    for ($i = 0; $i < 2_000 && $own < $accepted; $i++) {
        if (@$take()) {
            wait_until_back($bucket);
        }
    }
};
$take_until(200);
// How much longer than it may each took, in all, and what was told.
[$late, $told] = within_three_tries(0, function () use ($server, $take, $bucket): array {
    wait_until_back($bucket);
    wait_until_a_new_outage_counts();
    $server->signal(SIGSTOP);
    $said = warnings(function () use ($take, &$is_degraded, &$times): void {
        $times['the first call'] = [milliseconds(function () use ($take, &$is_degraded): void {
            $is_degraded = $take();
        }), 400];
        $each = array_map(fn (): float => milliseconds($take), range(1, 500));
        sort($each);
        $times['later calls'] = [$each[400], 1];
        $times['another process'] = [(float) in_processes(1, fn (): string => (string) milliseconds($take))[0], 20];
    });
    $server->signal(SIGCONT);
    wait_until_back($bucket);
    $late = array_sum(array_map(fn (array $time): float => max(0, $time[0] - $time[1]), $times));
    return [$late, json_encode($is_degraded) . ', ' . implode("\n", $said) . ($late > 0 ? "\n" . json_encode($times) : '')];
});
echo $told, "\n", $late <= 0 ? "in time\n" : '';
$take_until(400);
// A call that was given up may have been charged: less is never missing than was let in.
$missing = 100_000 - (new TokenBucket($server->dsn('on_error=throw&timeout_ms=20000'), 'stopped', 100_000, 0.001))->peek(0)->getRemainingTokens();
echo $missing >= $own && $own >= 100 ? 'nothing is lost' : "$missing of $own", "\n";

// Restarted.
$missing = fn (): int => 100_000 - (new TokenBucket($server->dsn('on_error=throw&timeout_ms=20000'), 'restarted', 100_000, 0.001))->peek()->getRemainingTokens();
$done = "$server->folder/done";
$workers = [];
for ($i = 0; $i < 4; $i++) {
    $workers[$i] = pcntl_fork();
    if ($workers[$i] === 0) {
        $bucket = new TokenBucket($server->dsn('on_error=throw&timeout_ms=2000'), 'restarted', 100_000, 0.001);
        $accepted = $unknown = 0;
        while (!file_exists($done)) {
            try {
                $accepted += (int) $bucket->consume();
            } catch (TokenBucket\StorageException $e) {
                $unknown += (int) !preg_match('/will be asked again|cannot connect/', $e->getMessage());
            }
            usleep(500);
        }
        file_put_contents("$server->folder/worker.$i", "$accepted $unknown");
        posix_kill(posix_getpid(), SIGKILL);
    }
}
wait_until(fn (): bool => $missing() > 200);
$server->kill();
$server->start();
wait_until_back(new TokenBucket($server->dsn('on_error=throw&timeout_ms=2000'), 'restarted', 100_000, 0.001));
$before = $missing();
wait_until(fn (): bool => $missing() > $before + 200);
touch($done);
foreach ($workers as $worker) {
    pcntl_waitpid($worker, $status);
}
$accepted = $unknown = 0;
for ($i = 0; $i < 4; $i++) {
    [$yes, $lost] = explode(' ', file_get_contents("$server->folder/worker.$i"));
    $accepted += (int) $yes;
    $unknown += (int) $lost;
}
// A reply that was lost may have been one for all four.
echo $missing() >= $accepted && $missing() <= $accepted + 4 * $unknown ? 'what was let in was charged' : "{$missing()} of $accepted and $unknown", "\n";
?>
--EXPECT--
TokenBucket::peek(): MySQL at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, limits are enforced in this host's shared memory
fallback: yes, yes, yes, no, degraded, not limited
yes, yes, no, no, by the store, limited

TokenBucket::peek(): MySQL at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
open: yes, yes, yes, yes, degraded, not limited
yes, yes, no, no, by the store, limited

TokenBucket::peek(): MySQL at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is denied
closed: no, no, no, no, degraded, limited
yes, yes, no, no, by the store, limited

TokenBucket::peek(): MySQL at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, every call is accepted
throw: MySQL at 127.0.0.1:PORT failed a moment ago; it will be asked again in N s
yes, yes, no, no, by the store, limited

true, TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: no answer in time; until a call succeeds, every call is denied
in time
nothing is lost
what was let in was charged
