--TEST--
Redis behind an address that moves: a worker of the old master gets to the new one, whatever the old one answers; so does one that starts meanwhile
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
token_bucket.deny_cache=0
token_bucket.on_error=closed
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

/** What the old master becomes, while it keeps its connections. */
$ways = [
    'a replica (READONLY)' => fn (Server $old, Server $new) => $old->ask("REPLICAOF 127.0.0.1 $new->port"),
    'a replica that cannot reach its master (MASTERDOWN)' => function (Server $old): void {
        $old->ask('CONFIG SET replica-serve-stale-data no');
        $old->ask('REPLICAOF 127.0.0.1 9');
    },
    'a master without replicas (NOREPLICAS)' => fn (Server $old) => $old->ask('CONFIG SET min-replicas-to-write 1'),
    'a replica that loads what its master has (LOADING)' => function (Server $old, Server $new): void {
        $new->ask('CONFIG SET rdbcompression no');
        $new->ask(implode("\r\n", array_map(fn (int $i): string => "SET filler$i " . str_repeat('x', 2_000), range(1, 1_000))));
        // A twentieth of a second for each key, and clients get an answer meanwhile.
        $old->ask('CONFIG SET loading-process-events-interval-bytes 1024');
        $old->ask('CONFIG SET key-load-delay 50000');
        $old->ask("REPLICAOF 127.0.0.1 $new->port");
        wait_until(fn (): bool => str_starts_with($old->ask('GET x'), '-LOADING'));
    },
];
foreach ($ways as $what => $become) {
    $old = new Server('redis');
    $new = new Server('redis', ['--replicaof', '127.0.0.1', $old->port, '--repl-diskless-sync-delay', '0']);
    $address = new MovingAddress($old);
    $dsn = "redis://127.0.0.1:$address->port";
    $bucket = new TokenBucket($dsn, 'x', 10, 0.0001);
    echo "$what\n    before: ", $bucket->attempt()->getRemainingTokens(), "\n";
    wait_until(fn () => $old->is_replicated());
    $new->ask('REPLICAOF NO ONE');
    $address->lead_to($new);
    $become($old, $new);
    $degraded = 0;
    wait_until(function () use ($bucket, &$degraded, &$decision): bool {
        $decision = @$bucket->attempt();
        $degraded += (int) $decision->isDegraded();
        return !$decision->isDegraded();
    });
    // The breaker may be open for a second; a server that answers costs the call that finds out.
    echo '    then: ', $decision->getRemainingTokens(), str_contains($what, 'READONLY') || str_contains($what, 'NOREPLICAS') ? ", after $degraded" : '', "\n";
    echo '    a process that starts: ', in_processes(1, fn (): int => (new TokenBucket($dsn, 'x', 10, 0.0001))->attempt()->getRemainingTokens())[0], "\n";
    $server = array_values(array_filter(TokenBucket\status()['servers'], fn (array $server): bool => $server['name'] === "Redis at 127.0.0.1:$address->port"))[0];
    echo '    ', $server['up'] ? 'up' : 'down', "\n";
    $old->kill();
    $new->kill();
}
?>
--EXPECT--
a replica (READONLY)
    before: 9
    then: 8, after 1
    a process that starts: 7
    up
a replica that cannot reach its master (MASTERDOWN)
    before: 9
    then: 8
    a process that starts: 7
    up
a master without replicas (NOREPLICAS)
    before: 9
    then: 8, after 1
    a process that starts: 7
    up
a replica that loads what its master has (LOADING)
    before: 9
    then: 8
    a process that starts: 7
    up
