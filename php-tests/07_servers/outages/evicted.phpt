--TEST--
Servers: a full Redis with noeviction keeps its buckets and opens no breaker; memcached and an evicting Redis forget denied clients
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

// Redis evicts the oldest of a few keys that it picks: of 64 rather than 5, or the victim is now and then never among them.
foreach ([
    'Redis, noeviction' => ['redis', ['--maxmemory', '4mb', '--maxmemory-policy', 'noeviction'], 30_000],
    'Redis, allkeys-lru' => ['redis', ['--maxmemory', '4mb', '--maxmemory-policy', 'allkeys-lru', '--maxmemory-samples', '64'], 60_000],
    'memcached' => ['memcached', ['-m', '2', '-I', '512k'], 60_000],
    'memcached -M' => ['memcached', ['-M', '-m', '2', '-I', '512k'], 60_000],
] as $what => [$kind, $options, $flood]) {
    $server = new Server($kind, $options);
    $victim = new TokenBucket($server->dsn(), 'victim', 5, 0.0001);
    while ($victim->consume());
    $checked = new TokenBucket($server->dsn(), 'checked', 5, 0.0001);
    while (!$checked->check());
    $degraded = 0;
    for ($i = 0; $i < $flood && $degraded < 100; $i++) {
        $degraded += (int) @(new TokenBucket($server->dsn(), "flood-$i", 5, 0.0001))->attempt()->isDegraded();
    }
    // A memcached refuses a few of many while it makes room.
    $answer = @$victim->attempt();
    echo $what, ': ', $degraded === 100 ? 'newcomers get the policy\'s answer' : 'newcomers are let in', '; who was denied is ',
        $answer->isAccepted() ? 'let in' : 'denied', $answer->isDegraded() ? ' by the policy' : '', ', and by check() ', @$checked->check() ? 'denied' : 'let in', "\n";
}
?>
--EXPECT--
Redis, noeviction: newcomers get the policy's answer; who was denied is denied, and by check() denied
Redis, allkeys-lru: newcomers are let in; who was denied is let in, and by check() let in
memcached: newcomers are let in; who was denied is let in, and by check() let in
memcached -M: newcomers get the policy's answer; who was denied is denied, and by check() denied
