--TEST--
Redis Cluster: when a node is lost, the policy answers for its keys only, until its replica takes over
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

function node(): Server
{
    return new Server('redis', [
        '--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-port', free_port(),
        '--cluster-require-full-coverage', 'no', '--cluster-replica-validity-factor', '0',
    ]);
}

$nodes = [$first, $second, $third, $replica] = [node(), node(), node(), node()];
$first->ask('CLUSTER ADDSLOTSRANGE 0 5460');
$second->ask('CLUSTER ADDSLOTSRANGE 5461 10922');
$third->ask('CLUSTER ADDSLOTSRANGE 10923 16383');
foreach ([$second, $third, $replica] as $node) {
    $bus = preg_match('/@(\d+)/', $node->ask('CLUSTER NODES'), $found) ? $found[1] : '';
    $first->ask("CLUSTER MEET 127.0.0.1 $node->port $bus");
}
foreach ($nodes as $node) {
    wait_until(fn () => preg_match_all('/ connected/', $node->ask('CLUSTER NODES')) === 4
        && str_contains($node->ask('CLUSTER INFO'), 'cluster_state:ok'));
}
preg_match('/[0-9a-f]{40}/', $third->ask('CLUSTER MYID'), $id);
wait_until(fn () => str_contains($replica->ask("CLUSTER REPLICATE $id[0]"), "+OK\r\n+OK") || str_contains($replica->ask('CLUSTER NODES'), 'myself,slave'));
wait_until(fn () => $third->is_replicated());

$dsn = "redis+cluster://127.0.0.1:$first->port,127.0.0.1:$second->port";
/** @var array<int, TokenBucket> one bucket for each node */
$buckets = [];
for ($i = 0; count($buckets) < 3; $i++) {
    $slot = (int) trim(explode("\r\n", $first->ask("CLUSTER KEYSLOT tb:k$i"))[0], ':');
    $buckets[$slot <= 5460 ? 1 : ($slot <= 10922 ? 2 : 3)] ??= new TokenBucket($dsn, "k$i", 5, 0.0001);
}
ksort($buckets);
$told = function () use ($buckets): string {
    return implode(', ', array_map(function (TokenBucket $bucket): string {
        $decision = $bucket->attempt();
        return $decision->getRemainingTokens() . ($decision->isDegraded() ? ' degraded' : '');
    }, $buckets));
};
echo 'all up: ', $told(), "\n";
// What the replica does not have yet when its master dies is lost.
wait_until(fn () => $third->is_replicated());
$third->kill();
echo implode("\n", warnings(function () use ($told, $buckets): void {
    echo 'one down: ', $told(), "\n";
    for ($i = 0; $i < 3; $i++) {
        $_ = $buckets[3]->attempt(0);
    }
    echo 'one down: ', $told(), "\n";
})), "\n";
$took = milliseconds(fn () => wait_until(fn () => !@$buckets[3]->attempt(0)->isDegraded()));
echo $took < 20_000 ? 'taken over' : "took $took ms", ': ', $told(), "\n";
// Another process, which knows the old map only.
[$other] = in_processes(1, $told);
echo 'another process: ', $other, "\n";
?>
--EXPECT--
all up: 4, 4, 4
one down: 3, 3, 4 degraded
one down: 2, 2, 3 degraded
TokenBucket::attempt(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, limits are enforced in this host's shared memory
taken over: 1, 1, 3
another process: 0, 0, 2
