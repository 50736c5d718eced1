--TEST--
Stores on servers: 8 processes get exactly what the bucket or window holds, in each of 9 rounds
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
    $wrong = 0;
    for ($round = 0; $round < 9; $round++) {
        $id = bin2hex(random_bytes(8));
        $counts = in_processes(8, function (int $process) use ($round, $dsn, $id) {
            // Without the deny cache, in half of the rounds, every try reaches the server.
            ini_set('token_bucket.deny_cache', (string) ($round % 2));
            $bucket = match (true) {
                $round < 5 => new TokenBucket($dsn, $id, 100, 0.00001),
                $round < 7 => new TokenBucket\FixedWindow($dsn, $id, 100, 3600),
                default => new TokenBucket\SlidingWindow($dsn, $id, 100, 3600),
            };
            $accepted = 0;
            // Races matter until the bucket is empty, so most rounds are short.
            for ($try = $round % 5 === 0 ? 500 : 60; $try > 0; $try--) {
                $accepted += (int) $bucket->consume();
            }
            return $accepted;
        });
        if (array_sum($counts) !== 100) {
            $wrong++;
            echo $name, ' round ', $round, ': ', implode(' + ', $counts), "\n";
        }
    }
    echo $name, ': ', $wrong, " rounds wrong\n";
}
?>
--EXPECT--
TB_REDIS: 0 rounds wrong
TB_REDIS_CLUSTER: 0 rounds wrong
TB_REDIS_SENTINEL: 0 rounds wrong
TB_MEMCACHED: 0 rounds wrong
TB_MEMCACHED_TWO: 0 rounds wrong
TB_MARIADB: 0 rounds wrong
TB_MYSQL: 0 rounds wrong
