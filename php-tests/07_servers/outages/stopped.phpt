--TEST--
Servers: when a server stops under load, one call waits and the others are answered at once; afterwards the server decides again
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

foreach (['redis', 'memcached'] as $kind) {
    $server = new Server($kind);
    $dsn = $server->dsn('on_error=closed');
    $bucket = new TokenBucket($dsn, 'x', 100_000, 0.001);
    $own = 0;
    // "Not one wrong answer": what was let in, and not by a policy, is missing from the bucket.
    $take = function () use ($bucket, &$own): bool {
        $decision = $bucket->attempt();
        $own += (int) $decision->isAccepted();
        return $decision->isDegraded();
    };
    for ($i = 0; $i < 200; $i++) {
        $take();
    }
    // How much longer than it may each took, in all, and what was told.
    [$late, $told] = within_three_tries(0, function () use ($server, $take, $bucket): array {
        $server->signal(SIGSTOP);
        $said = warnings(function () use ($take, &$is_degraded, &$times): void {
            // 50 ms for the call, 100 more had it to connect; and what the machine adds.
            $times['the first call'] = [milliseconds(function () use ($take, &$is_degraded): void {
                $is_degraded = $take();
            }), 250];
            $each = array_map(fn (): float => milliseconds($take), range(1, 500));
            sort($each);
            // Nine in ten, for a busy machine makes some wait; a call that asks the server takes fifty.
            $times['later calls'] = [$each[450], 5];
            // Another process of this host knows, too.
            $times['another process'] = [(float) in_processes(1, fn (): string => (string) milliseconds($take))[0], 40];
        });
        $server->signal(SIGCONT);
        $times['the return'] = [milliseconds(fn () => wait_until_back($bucket)), 2_000];
        $late = array_sum(array_map(fn (array $time): float => max(0, $time[0] - $time[1]), $times));
        // A server that fails again within a second of its return has not come back.
        $late > 0 && sleep(1);
        return [$late, json_encode($is_degraded) . ($times['the first call'][0] >= 45 ? ', after the time-out' : ', early') . "\n" . implode("\n", $said)
            . ($late > 0 ? "\n" . json_encode($times) : '')];
    });
    echo $told, "\n", $late <= 0 ? "in time\n" : '';
    for ($i = 0; $i < 200; $i++) {
        $take();
    }
    // What was on its way when the server stopped may have been charged: once, and that probes
    // were, too. Never less than was let in.
    $missing = 100_000 - $bucket->peek(0)->getRemainingTokens();
    echo $missing >= $own && $missing <= $own + 5 ? 'nothing is lost' : "$missing of $own", "\n";
}
?>
--EXPECT--
true, after the time-out
TokenBucket::attempt(): Redis at 127.0.0.1:PORT: no answer in time; until a call succeeds, every call is denied
in time
nothing is lost
true, after the time-out
TokenBucket::attempt(): memcached at 127.0.0.1:PORT: no answer in time; until a call succeeds, every call is denied
in time
nothing is lost
