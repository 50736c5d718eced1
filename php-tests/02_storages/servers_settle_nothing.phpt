--TEST--
Decision: settle(): on every server a call that estimated its cost at nothing is charged what it cost, the first call of all and one beside others; a peek() is not
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
use TokenBucket\{CalendarWindow, Compound, FixedWindow, SlidingWindow};

foreach (['TB_REDIS', 'TB_REDIS_CLUSTER', 'TB_MEMCACHED', 'TB_MARIADB', 'TB_MYSQL'] as $server) {
    $dsn = server_dsn($server);
    $id = bin2hex(random_bytes(8));
    $answers = [];
    foreach ([
        TokenBucket::per($dsn, "$id a", 50, 5_000_000),
        TokenBucket::per(with($dsn, "lease=5"), "$id b", 50, 5_000_000),
        new FixedWindow($dsn, "$id c", 50, 5_000),
        new CalendarWindow($dsn, "$id d", 50, 'year'),
        new SlidingWindow($dsn, "$id e", 50, 5_000),
        new Compound(new FixedWindow($dsn, "{{$id}}f", 50, 5_000), new SlidingWindow($dsn, "{{$id}}g", 60, 5_000)),
    ] as $limiter) {
        foreach ([17, 3] as $cost) {
            $free = $limiter->attempt(0);
            $answers[] = [$free->settle($cost), $free->getRemainingTokens(), $limiter->peek(0)->settle(9)];
        }
    }
    echo "$server: ", json_encode(array_unique($answers, SORT_REGULAR)), "\n";
}
?>
--EXPECT--
TB_REDIS: [[true,33,false],[true,30,false]]
TB_REDIS_CLUSTER: [[true,33,false],[true,30,false]]
TB_MEMCACHED: [[true,33,false],[true,30,false]]
TB_MARIADB: [[true,33,false],[true,30,false]]
TB_MYSQL: [[true,33,false],[true,30,false]]
