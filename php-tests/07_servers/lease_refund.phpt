--TEST--
lease: a decision gives back no token that has come back by itself, whether a lease or the server decided
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$redis = new Server('redis');
foreach ([0, 64] as $lease) {
    // 400 tokens, which all come back within a second.
    $bucket = new TokenBucket($redis->dsn("lease=$lease"), "bucket-$lease", 400, 400);
    for ($i = 0; $i < 60; $i++) {
        $bucket->consume();
    }
    $held = array_map(fn () => $bucket->attempt(), range(1, 150));
    $given_back = fn (array $decisions): int => count(array_filter($decisions, fn ($decision) => $decision->refund()));
    $in_time = array_map(fn () => $bucket->attempt(), range(1, 20));
    echo "lease=$lease: ", count(array_filter([...$held, ...$in_time], fn ($decision) => $decision->isAccepted())), ' accepted, ', $given_back($in_time), " given back at once\n";
    // The shortest wait after which nothing that the decisions took is missing.
    usleep(1_100_000);
    (new TokenBucket($redis->dsn(), "bucket-$lease", 400, 400))->takeUpTo(400);
    echo $given_back($held), " given back that had come back\n";
}

// A call that fetched a batch gives back its own token only, as long as that is missing.
$bucket = new TokenBucket($redis->dsn('lease=64'), 'fetched', 10_000, 1000);
$decisions = array_map(fn () => $bucket->attempt(), range(1, 127));
usleep(1_100_000);
echo array_sum(array_map(fn ($decision) => (int) $decision->refund(), $decisions)), " given back by those that fetched\n";
?>
--EXPECT--
lease=0: 170 accepted, 20 given back at once
0 given back that had come back
lease=64: 170 accepted, 20 given back at once
0 given back that had come back
0 given back by those that fetched
