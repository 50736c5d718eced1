--TEST--
Vectors: every store passes the test vectors of other limiters
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require __DIR__ . '/vectors.inc';

$results = [];
foreach (['shm' => 'shm:', 'array' => 'array:'] + server_dsns() as $name => $dsn) {
    // Servers outlive a test: it has keys of its own.
    $results[$name] = implode("\n", play_vectors(with($dsn, 'on_error=throw&timeout_ms=10000&connect_timeout_ms=20000&prefix=' . bin2hex(random_bytes(4)))));
}
echo implode("\n", array_unique($results)), ' on each of ', count($results), " stores\n";
?>
--EXPECT--
55 steps on each of 16 stores
