--TEST--
Redis Sentinel: after a failover the new master is used: by open connections, after an idle time, by new workers; a replica decides nothing
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

$first = new Server('redis');
$second = new Server('redis', ['--replicaof', '127.0.0.1', $first->port]);
wait_until(fn () => $first->is_replicated());
file_put_contents($config = "$first->folder/sentinel.conf", "sentinel monitor main 127.0.0.1 $first->port 1\nsentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n");
$sentinel = new Server('sentinel', [$config]);
wait_until(fn () => str_contains($sentinel->ask('SENTINEL REPLICAS main'), (string) $second->port));

$dsn = "redis+sentinel://127.0.0.1:$sentinel->port/main";
$bucket = new TokenBucket($dsn, 'x', 10, 0.0001);
$told = function () use ($bucket): string {
    $decision = $bucket->attempt();
    return $decision->getRemainingTokens() . ($decision->isDegraded() ? ' degraded' : '') . "\n";
};
echo $told();
wait_until(fn () => $first->is_replicated());

// The roles are exchanged, and the old master lives on as a replica, which takes no writes.
$sentinel->ask('SENTINEL FAILOVER main');
wait_until(fn () => str_contains($first->ask('INFO replication'), 'master_link_status:up') && $second->is_replicated());
echo 'exchanged: ', $told(), 'another process: ', in_processes(1, $told)[0];

// And now it is lost.
wait_until(fn () => $second->is_replicated());
$second->kill();
echo warning_of_outage($dsn), "\n", 'lost: ', $told();
wait_until(fn () => !@$bucket->attempt(0)->isDegraded());
echo 'taken over: ', $told();

// It is replaced while the worker is idle, and is back, empty, before it learns that it is no master any more.
$second->start();
wait_until(fn () => $first->is_replicated() && preg_match("/flags\r\n\\$5\r\nslave\r\n/", $sentinel->ask('SENTINEL REPLICAS main')));
$first->kill();
wait_until(fn () => str_contains($sentinel->ask('SENTINEL GET-MASTER-ADDR-BY-NAME main'), (string) $second->port));
// It takes itself for the master for some seconds yet.
$first->start();
echo 'idle meanwhile: ', $told();

// A sentinel that takes a replica for the master, at first.
[$master, $replica] = [new Server('redis'), new Server('redis', ['--replicaof', '127.0.0.1', $second->port])];
wait_until(fn () => str_contains($replica->ask('INFO replication'), 'master_link_status:up'));
$named = [$replica->port, $master->port];
$port = strange_server(function ($c) use (&$named): void {
    stream_set_blocking($c, true);
    while (($command = fread($c, 65536)) !== '' && $command !== false) {
        if (str_contains($command, 'SENTINEL')) {
            $name = (string) (count($named) > 1 ? array_shift($named) : $named[0]);
            fwrite($c, "*2\r\n$9\r\n127.0.0.1\r\n$" . strlen($name) . "\r\n$name\r\n");
        } else {
            fwrite($c, "+OK\r\n");
        }
    }
});
$decision = (new TokenBucket("redis+sentinel://127.0.0.1:$port/main", 'x', 10, 0.0001))->peek();
echo 'a replica, then the master: ', $decision->isDegraded() ? 'degraded' : 'by the store', ', the replica was asked ',
    count(array_intersect_key($replica->commands(), ['eval' => 0, 'evalsha' => 0])), " times\n";
?>
--EXPECT--
9
exchanged: 8
another process: 7
TokenBucket::peek(): Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111); until a call succeeds, limits are enforced in this host's shared memory
lost: 9 degraded
taken over: 6
idle meanwhile: 5
a replica, then the master: by the store, the replica was asked 0 times
