--TEST--
Servers: any identifier has a bucket of its own and runs no command; a {tag} in a key keeps limits in one slot of a cluster
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$identifiers = [
    'joe', 'Joe', ' joe', 'joe ', "joe\0", "\0joe", "joe\r\n", "joe\n", "jo\u{308}e", "j\u{f6}e", "\xff\xfe", '', ':', 'tb:joe', 'w:joe', 'w:tb:joe', 's:joe', 's:tb:joe', 'c:tb:joe', 'joe#w', 'joe#s', '#h', 'h:joe',
    '#h' . substr(hash('sha256', 'tb:a b'), 0, 32), 'a b', '{joe}', '{joe}1', 'a{joe}', '{}', '*', '?', '[a-z]',
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
        $odd = preg_grep('~^tb:([A-Za-z0-9._:@/{}-]{1,197}|#h[0-9a-f]{32})$~D', $names[0], PREG_GREP_INVERT);
        echo count($names[0]) - count($identifiers), ' keys too many, ', count($odd), " odd\n";
    }
}

// A hundred names of one tag are in one slot, those without are spread over all; a name that is hashed has the prefix's tag alone.
preg_match('/:(\d+)/', getenv('TB_REDIS_CLUSTER'), $first);
preg_match_all('/ 127\.0\.0\.1:(\d+)@/', ask((int) $first[1], 'CLUSTER NODES'), $ports);
$nodes = array_map(intval(...), $ports[1]);
$prefix = 'aim' . getmypid();
$hashed = fn (string $prefix, string $identifier): string => "$prefix#h" . substr(hash('sha256', $prefix . $identifier), 0, 32);
$names = [
    'in the identifier' => fn (int $i): array => ["$prefix:", "{joe}$i", "$prefix:{joe}$i"],
    'in the prefix' => fn (int $i): array => ["{" . $prefix . "}:", "joe$i", "{" . $prefix . "}:joe$i"],
    'without a tag' => fn (int $i): array => ["$prefix:", "joe$i", "$prefix:joe$i"],
    'hashed' => fn (int $i): array => ["$prefix:", "{joe} $i", $hashed("$prefix:", "{joe} $i")],
    'hashed, in the prefix' => fn (int $i): array => ["{" . $prefix . "}:", "joe $i", $hashed("{" . $prefix . "}:", "joe $i")],
];
foreach ($names as $what => $name) {
    $slots = [];
    $found = 0;
    for ($i = 0; $i < 100; $i++) {
        [$prefix_of_key, $identifier, $key] = $name($i);
        (new TokenBucket(with(server_dsn('TB_REDIS_CLUSTER'), 'prefix=' . rawurlencode($prefix_of_key)), $identifier, 1, 0.0001))->consume();
        $slots[] = (int) substr(ask($nodes[0], "CLUSTER KEYSLOT $key"), 1);
        $found += (int) str_contains(implode(array_map(fn (int $port) => ask($port, "EXISTS $key"), $nodes)), ':1');
    }
    $count = count(array_unique($slots));
    echo $what, ': ', $count > 90 ? 'spread over the slots' : "$count slots", ', ', $found, " found there\n";
}
?>
--EXPECT--
redis: 0 shared, 0 forgotten, the canary is alive
0 keys too many, 0 odd
memcached: 0 shared, 0 forgotten, the canary is alive
in the identifier: 1 slots, 100 found there
in the prefix: 1 slots, 100 found there
without a tag: spread over the slots, 100 found there
hashed: spread over the slots, 100 found there
hashed, in the prefix: 1 slots, 100 found there
