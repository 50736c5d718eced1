--TEST--
Servers: any identifier has a bucket of its own, runs no command, and chooses no cluster node by a {tag}
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$identifiers = [
    'joe', 'Joe', ' joe', 'joe ', "joe\0", "\0joe", "joe\r\n", "joe\n", "jo\u{308}e", "j\u{f6}e", "\xff\xfe", '', ':', 'tb:joe', 'w:joe', 'w:tb:joe', 'h:joe',
    'h:' . substr(hash('sha256', 'tb:a b'), 0, 32), 'a b', '{joe}', '{joe}1', 'a{joe}', '{}', '*', '?', '[a-z]',
    "x\r\nflush_all\r\n", "x 0 0 1\r\ny\r\nset canary 0 0 5\r\nowned\r\n", "x\r\nms canary 5\r\nowned\r\n", "x b S5 T0\r\n", "\r\nquit\r\n",
    "*1\r\n$8\r\nFLUSHALL\r\n", "x\r\nSET canary owned\r\n", "x' 0 0", '\\', '"', "'", "redis.call('FLUSHALL')", '"); redis.call("FLUSHALL") --', '%00', '%s%n', "\u{202e}eoj",
    str_repeat('a', 197), str_repeat('a', 198), str_repeat('a', 250), str_repeat('a', 251), str_repeat("\0", 4_000), str_repeat('a', 4_096), str_repeat('a', 4_095) . 'b',
];
$identifiers = array_filter($identifiers, fn (string $identifier): bool => $identifier !== '');
count($identifiers) === count(array_unique($identifiers)) || exit("twice the same\n");

foreach (['redis', 'memcached'] as $kind) {
    $server = new Server($kind);
    $kind === 'redis' ? $server->ask('SET canary alive') : $server->ask("set canary 0 0 5\r\nalive");
    $bucket = fn (string $identifier) => new TokenBucket($server->dsn(), $identifier, 1, 0.0001);
    // Buckets of one: whose is taken already shares another's.
    $shared = array_filter($identifiers, fn (string $identifier): bool => !$bucket($identifier)->consume());
    $forgotten = array_filter($identifiers, fn (string $identifier): bool => $bucket($identifier)->consume());
    echo $kind, ': ', count($shared), ' shared, ', count($forgotten), ' forgotten, the canary is ',
        str_contains($server->ask($kind === 'redis' ? 'GET canary' : 'get canary'), 'alive') ? 'alive' : 'dead', "\n";
    if ($kind === 'redis') {
        preg_match_all('/^(?!canary)[^$*+\r]+(?=\r)/m', $server->ask('KEYS *'), $names);
        // Readable, or a hash: nothing else is a key.
        $odd = preg_grep('~^(tb:[A-Za-z0-9._:@/-]{1,197}|h:[0-9a-f]{32})$~D', $names[0], PREG_GREP_INVERT);
        echo count($names[0]) - count($identifiers), ' keys too many, ', count($odd), " odd\n";
    }
}

// A hundred names of one tag would all be on one node. They are spread as others are.
$nodes = [];
foreach (explode(',', substr(getenv('TB_REDIS_CLUSTER'), strlen('redis+cluster://'))) as $node) {
    $nodes[] = (int) substr(strrchr($node, ':'), 1);
}
for ($i = 0; $i < 100; $i++) {
    (new TokenBucket(with(server_dsn('TB_REDIS_CLUSTER'), 'prefix=aim' . getmypid()), "{joe}$i", 1, 0.0001))->consume();
}
$slots = array_map(function (int $i): int {
    global $nodes;
    $name = 'h:' . substr(hash('sha256', 'aim' . getmypid() . "{joe}$i"), 0, 32);
    return (int) substr(ask($nodes[0], "CLUSTER KEYSLOT $name"), 1);
}, range(0, 99));
echo count(array_unique($slots)) > 90 ? 'spread over the slots' : 'in ' . count(array_unique($slots)) . ' slots', "\n";
$found = array_sum(array_map(fn (int $i) => (int) str_contains(
    implode(array_map(fn (int $port) => ask($port, 'EXISTS h:' . substr(hash('sha256', 'aim' . getmypid() . "{joe}$i"), 0, 32)), $nodes)), ':1'), range(0, 99)));
echo $found > 40 ? 'found there' : "$found found", "\n";
?>
--EXPECT--
redis: 0 shared, 0 forgotten, the canary is alive
0 keys too many, 0 odd
memcached: 0 shared, 0 forgotten, the canary is alive
spread over the slots
found there
