--TEST--
lease: on every store on servers a bucket gives out each token once, in far fewer trips than calls
--INI--
token_bucket.deny_cache=0
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

foreach (server_dsns() as $name => $dsn) {
    $id = 'lease-stores:' . bin2hex(random_bytes(8));
    $bucket = new TokenBucket(with($dsn, 'lease=32'), $id, 1_000, 0.001);
    $accepted = 0;
    for ($i = 0; $i < 1_100; $i++) {
        $accepted += (int) $bucket->consume();
    }
    $left = (new TokenBucket($dsn, $id, 1_000, 0.001))->peek()->getRemainingTokens();
    $accepted === 1_000 && $left === 0 || print("$name: $accepted accepted, $left left\n");
}
echo count(server_dsns()) > 8 ? 'all stores' : 'few stores', "\n";
?>
--EXPECT--
all stores
