--TEST--
Redis Sentinel: a worker of an old master that was cut off from the sentinels and its replicas (NOREPLICAS) gets to the new one, also if the first sentinel was cut off with it
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

/** The answers of a Redis to the administrator, whose password nobody changes. */
$ask = fn (Server $server, string ...$commands): string => ask($server->port, implode("\r\n", ['AUTH admin s3cret', ...$commands]));
$options = ['--requirepass', 'secret', '--masterauth', 'secret', '--user', 'admin', 'on', '>s3cret', '~*', '&*', '+@all'];
$old = new Server('redis', [...$options, '--min-replicas-max-lag', '1']);
$new = new Server('redis', [...$options, '--replicaof', '127.0.0.1', $old->port]);
$is_replicated = fn (): bool => preg_match('/offset=(\d+),.*master_repl_offset:(\d+)/s', $ask($old, 'INFO replication'), $found) && $found[1] === $found[2];
wait_until($is_replicated);
// The first sentinel has a user of the old master alone, and takes no words of the other sentinel.
$ask($old, 'ACL SETUSER first on >s3cret ~* &* +@all');
$sentinel = function (string $user, string $password, string $more = '') use ($old): Server {
    file_put_contents($config = tempnam($old->folder, 'sentinel'), "sentinel monitor main 127.0.0.1 $old->port 1\nsentinel down-after-milliseconds main 500\n"
        . "sentinel failover-timeout main 2000\nsentinel auth-user main $user\nsentinel auth-pass main $password\n$more");
    return new Server('sentinel', [$config]);
};
$first = $sentinel('first', 's3cret', "user default on nopass ~* &* +@all -publish\n");
$second = $sentinel('default', 'secret');
wait_until(fn () => str_contains($second->ask('SENTINEL REPLICAS main'), (string) $new->port));
$bucket = new TokenBucket("redis+sentinel://admin:s3cret@127.0.0.1:$first->port,127.0.0.1:$second->port/main", 'x', 10, 0.0001);
echo 'before: ', $bucket->attempt()->getRemainingTokens(), "\n";
wait_until($is_replicated);

// The old master is cut off from its replica and the second sentinel.
$ask($old, 'CONFIG SET min-replicas-to-write 1', 'ACL SETUSER default resetpass >other', 'CLIENT KILL TYPE replica', 'CLIENT KILL USER default');
wait_until(fn () => str_contains($second->ask('SENTINEL GET-MASTER-ADDR-BY-NAME main'), (string) $new->port));
wait_until(fn () => str_contains($ask($new, 'ROLE'), 'master'));
$degraded = 0;
wait_until(function () use ($bucket, &$degraded, &$decision): bool {
    $decision = @$bucket->attempt();
    $degraded += (int) $decision->isDegraded();
    return !$decision->isDegraded();
});
echo 'the first sentinel names the ', str_contains($first->ask('SENTINEL GET-MASTER-ADDR-BY-NAME main'), (string) $old->port) ? 'old' : 'new', " master\n";
echo 'then: ', $decision->getRemainingTokens(), ', after ', $degraded > 0 ? 'a refusal' : 'none', "\n";
?>
--EXPECT--
before: 9
the first sentinel names the old master
then: 8, after a refusal
