--TEST--
Stores on servers: with refill, 8 processes never get more than capacity + rate x time; check() included
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
--FILE--
<?php
require dirname(__DIR__) . '/processes.inc';
require dirname(__DIR__) . '/servers.inc';

foreach (race_dsns() as $name => $dsn) {
    $id = bin2hex(random_bytes(8));
    $start = hrtime(true);
    $counts = in_processes(8, function () use ($dsn, $id) {
        $bucket = new TokenBucket($dsn, $id, 50, 2_999);
        $accepted = 0;
        for ($try = 0; $try < 1_000; $try++) {
            $accepted += (int) $bucket->consume();
        }
        return $accepted;
    });
    $seconds = (hrtime(true) - $start) / 1e9;
    $bounded = array_sum($counts) <= 50 + 2_999 * $seconds && array_sum($counts) >= 50;

    // Every check takes a token: those who hammer together get what the bucket held, no more.
    $counts = in_processes(8, function () use ($dsn, $id) {
        $bucket = new TokenBucket($dsn, "check-$id");
        $passed = 0;
        for ($try = 0; $try < 200; $try++) {
            $passed += (int) !$bucket->check('client', 40, 400_000);
        }
        return $passed;
    });
    echo $name, ': ', $bounded ? 'bounded' : 'exceeded', ', ', array_sum($counts), "\n";
}
?>
--EXPECT--
TB_REDIS: bounded, 40
TB_REDIS_CLUSTER: bounded, 40
TB_REDIS_SENTINEL: bounded, 40
TB_MEMCACHED: bounded, 40
TB_MEMCACHED_TWO: bounded, 40
TB_MARIADB: bounded, 40
TB_MYSQL: bounded, 40
