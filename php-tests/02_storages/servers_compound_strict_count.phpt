--TEST--
Compound: 8 processes over two overlapping Compounds on servers charge exactly what is admitted, in each of 6 rounds
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
require __DIR__ . '/compound_race.inc';

foreach (race_dsns() as $name => $dsn) {
    [$admitted, $wrong] = race($dsn, 6, 50);
    echo $name, ': ', $admitted > 120 ? 'many' : $admitted, ' admitted, ', count($wrong), " wrong\n", implode("\n", array_slice($wrong, 0, 9));
}
?>
--EXPECT--
TB_REDIS: many admitted, 0 wrong
TB_REDIS_CLUSTER: many admitted, 0 wrong
TB_REDIS_SENTINEL: many admitted, 0 wrong
TB_MEMCACHED: many admitted, 0 wrong
TB_MEMCACHED_TWO: many admitted, 0 wrong
TB_MARIADB: many admitted, 0 wrong
TB_MYSQL: many admitted, 0 wrong
