--TEST--
SlidingWindow: in the log of 8 processes no stretch of an interval on a server has more hits than the limit
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
require __DIR__ . '/sliding_race.inc';

foreach (['TB_REDIS', 'TB_REDIS_CLUSTER', 'TB_MEMCACHED', 'TB_MARIADB', 'TB_MYSQL'] as $name) {
    // A process that another test has stopped or killed while it asked for a key of the same record is waited for 2.5 s.
    echo $name, ': ', race_for_hits(server_dsn($name), $name === 'TB_REDIS' ? 1.5 : 4), "\n";
}
?>
--EXPECT--
TB_REDIS: never more, many in all, all of them afterwards
TB_REDIS_CLUSTER: never more, many in all, all of them afterwards
TB_MEMCACHED: never more, many in all, all of them afterwards
TB_MARIADB: never more, many in all, all of them afterwards
TB_MYSQL: never more, many in all, all of them afterwards
