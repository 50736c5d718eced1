--TEST--
Servers: a child gives back no decision of its parent, whether the server, a lease or this host's own bucket made it
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/processes.inc';

$redis = new Server('redis');
$dsns = [
    'server' => $redis->dsn(),
    'lease' => $redis->dsn('lease=64'),
    'this host' => 'redis://127.0.0.1:' . free_port() . '?on_error=fallback',
];
foreach ($dsns as $what => $dsn) {
    $bucket = TokenBucket::per($dsn, $what, 2_000, 1e8);
    // The lease holds tokens then, which all processes of the host hand out.
    for ($i = 0; $i < 200; $i++) {
        @$bucket->consume();
    }
    $decisions = array_map(fn () => $bucket->attempt(), range(1, 20));
    $refund = fn (): int => count(array_filter($decisions, fn ($decision) => $decision->refund()));
    $children = in_processes(4, fn () => json_encode([$refund(), $bucket->consume()]));
    echo "$what: ", implode(' ', $children), ', parent ', json_encode([$refund(), $refund()]), "\n";
}
?>
--EXPECT--
server: [0,true] [0,true] [0,true] [0,true], parent [20,0]
lease: [0,true] [0,true] [0,true] [0,true], parent [20,0]
this host: [0,true] [0,true] [0,true] [0,true], parent [20,0]
