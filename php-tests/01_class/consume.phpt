--TEST--
TokenBucket: consume(): takes tokens while some are left
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

TestClock::freeze(1_000_000);
foreach (['shm:', 'array:'] as $dsn) {
    $bucket = new TokenBucket($dsn, __FILE__, 3, 0.5);
    echo times(5, fn () => $bucket->consume()), "\n";
    TestClock::advance(1.999999999);
    var_dump($bucket->consume(0), $bucket->consume(1));
    TestClock::advance(0.000000001);
    var_dump($bucket->consume(token_count: 1), $bucket->consume());
    TestClock::advance(60);
    var_dump($bucket->consume(4), $bucket->consume(PHP_INT_MAX), $bucket->consume(3));
    // Another object with the same identifier is the same bucket.
    var_dump((new TokenBucket($dsn, __FILE__, 3, 0.5))->consume());
}
?>
--EXPECT--
11100
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
bool(false)
bool(true)
bool(false)
11100
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
bool(false)
bool(true)
bool(false)
