--TEST--
Servers: a foreign value under a bucket's key is reported once and affects no other key
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

/** Three times a bucket of two: what it says, and whether others say it. */
function told(string $dsn, string $identifier): string
{
    $bucket = new TokenBucket($dsn, $identifier, 2, 0.001);
    $told = array_map(fn (): string => $bucket->consume() ? 'yes' : 'no', range(1, 3));
    return implode(' ', $told) . ($bucket->attempt()->isDegraded() ? ', degraded' : '');
}

$redis = new Server('redis');
$memcached = new Server('memcached');
$put = [
    // No state of ours: nobody has used the bucket.
    'text' => 'hello',
    'as long as one' => 'hello, world!',
    'late' => "\xff\xff\xff\xff\xff" . '12345678',
    'later' => "\0\1\x12\xe0\xbe\xff\xff\xff\xff1234",
    'long' => str_repeat('x', 300),
];
$client = fsockopen('127.0.0.1', $redis->port);
foreach ($put as $name => $value) {
    $key = 'tb:' . strtr($name, ' ', '_');
    fwrite($client, "*3\r\n$3\r\nSET\r\n$" . strlen($key) . "\r\n$key\r\n$" . strlen($value) . "\r\n$value\r\n");
    fgets($client);
    ask($memcached->port, "set $key 0 0 " . strlen($value) . "\r\n$value");
    foreach ([$redis, $memcached] as $server) {
        echo $name, ': ', told($server->dsn(), strtr($name, ' ', '_')), "\n";
    }
}
// Another type: the server refuses. That is no outage of the server.
$redis->ask('HSET tb:hash a b');
$redis->ask('HSET tb:other a b');
print_r(warnings(function () use ($redis): void {
    echo 'hash: ', told($redis->dsn(), 'hash'), "\n";
    echo 'another hash: ', told($redis->dsn(), 'other'), "\n";
    echo 'no hash: ', told($redis->dsn(), 'x'), "\n";
}));
// Rights to some keys alone: the others are refused.
$redis->ask('ACL SETUSER few on >s3cret ~tb:a* -@all +eval +evalsha +time +get +set +del');
$few = "redis://few:s3cret@127.0.0.1:$redis->port";
print_r(warnings(function () use ($few): void {
    echo 'odd: ', told($few, 'a b'), "\n";
    echo 'plain: ', told($few, 'ab'), "\n";
}));
?>
--EXPECTF--
text: yes yes no
text: yes yes no
as long as one: yes yes no
as long as one: yes yes no
late: yes yes no
late: yes yes no
later: yes yes no
later: yes yes no
long: yes yes no
long: yes yes no
hash: yes yes no, degraded
another hash: yes yes no, degraded
no hash: yes yes no
Array
(
    [0] => TokenBucket::consume(): Redis at 127.0.0.1:PORT: WRONGTYPE %s; limits are enforced in this host's shared memory
)
odd: yes yes no, degraded
plain: yes yes no
Array
(
    [0] => TokenBucket::consume(): Redis at 127.0.0.1:PORT: NOPERM %s; limits are enforced in this host's shared memory
)
