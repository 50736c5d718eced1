--TEST--
A server that must not be written to, where there is no other: each process looks once a second, one of the host says so, status tells it, and denied clients stay denied
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$redis = new Server('redis');
$master = new Server('redis', ['--replicaof', '127.0.0.1', $redis->port]);
wait_until(fn () => $redis->is_replicated());
$dsn = $redis->dsn();
$status = function () use ($redis): string {
    $servers = array_filter(TokenBucket\status()['servers'], fn (array $server): bool => $server['name'] === "Redis at 127.0.0.1:$redis->port");
    ['up' => $is_up, 'outages' => $outages, 'last_failure' => $failure] = array_values($servers)[0];
    return ($is_up ? 'up' : 'down') . ", $outages outages: " . preg_replace('/(READONLY).*/', '$1 ...', $failure ?? 'none') . "\n";
};
$denied = new TokenBucket($dsn, 'denied', 1, 0.0001);
$denied->consume();
echo $status();
wait_until(fn () => $redis->is_replicated());
$master->ask('REPLICAOF NO ONE');
$redis->ask("REPLICAOF 127.0.0.1 $master->port");
wait_until(fn (): bool => str_contains($redis->ask('INFO replication'), 'master_link_status:up'));
$connections = fn (): int => preg_match('/total_connections_received:(\d+)/', $redis->ask('INFO stats'), $found) ? (int) $found[1] : 0;

// Four workers whose clients are new, and one whose client is limited: it gets an answer each time.
$before = $connections();
$begin = hrtime(true);
$worker = function (int $i) use ($dsn): string {
    $count = ['by the store' => 0, 'degraded' => 0];
    $warnings = warnings(function () use ($dsn, $i, &$count): void {
        for ($end = hrtime(true) + 4e9; hrtime(true) < $end; usleep(20_000)) {
            $decision = (new TokenBucket($dsn, $i === 0 ? 'denied' : bin2hex(random_bytes(6)), 1, 0.0001))->attempt();
            $count[$decision->isDegraded() ? 'degraded' : 'by the store']++;
        }
    });
    return json_encode([$count, $warnings]);
};
$results = array_map(fn (string $json): array => json_decode($json, true), in_processes(5, $worker));
$seconds = (hrtime(true) - $begin) / 1e9;
$opened = $connections() - $before - 1; // that of INFO itself
echo 'the limited client: ', $results[0][0]['degraded'] === 0 && $results[0][0]['by the store'] > 10 ? 'denied by the server' : json_encode($results[0]), "\n";
echo 'new clients: ', array_sum(array_map(fn (array $result): int => $result[0]['by the store'], array_slice($results, 1))), " of them by the server\n";
// Each of four looks once a second at most, beside its first connection.
echo 'connections: ', $opened <= 1 + 4 * ceil($seconds + 1) ? 'once a second' : "$opened in $seconds s", "\n";
echo preg_replace('/(READONLY).*(; until)/U', '$1 ...$2', implode("\n", array_merge(...array_column($results, 1)))), "\n";
echo $status();

// It can be written to again.
$redis->ask('REPLICAOF NO ONE');
wait_until(fn (): bool => !@(new TokenBucket($dsn, bin2hex(random_bytes(6)), 1, 0.0001))->attempt()->isDegraded());
echo $status();
?>
--EXPECT--
up, 0 outages: none
the limited client: denied by the server
new clients: 0 of them by the server
connections: once a second
TokenBucket::attempt(): Redis at 127.0.0.1:PORT: it refuses writes: READONLY ...; until a server accepts writes, limits are enforced in this host's shared memory
down, 1 outages: it refuses writes: READONLY ...
up, 1 outages: it refuses writes: READONLY ...
