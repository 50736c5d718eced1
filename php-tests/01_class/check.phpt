--TEST--
TokenBucket: check(): true means limited; a client that keeps calling stays limited, a silent one starts afresh
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

TestClock::freeze(1_000_000.1);
foreach (['shm:', 'array:'] as $dsn) {
    $limiter = new TokenBucket($dsn, 'login' . __FILE__);
    echo times(12, fn () => $limiter->check('192.0.2.1', 10, 300)), "\n";
    var_dump($limiter->check('192.0.2.2', 10));
    // Two tokens owed, and each call takes one more than a second brings: limited for ever.
    $limited = '';
    for ($i = 0; $i < 20; $i++) {
        TestClock::advance(29.9);
        $limited .= (int) $limiter->check('192.0.2.1', 10, 300);
    }
    echo $limited, times(30, fn () => $limiter->check('192.0.2.1', 10, 300)), "\n";
    TestClock::advance(299.999999);
    var_dump($limiter->check('192.0.2.1', 10, 300));
    TestClock::advance(300);
    echo times(11, fn () => $limiter->check('192.0.2.1', 10, 300)), "\n";
    // Twice as slow as the refill, it comes back by itself.
    TestClock::advance(60);
    var_dump($limiter->check('192.0.2.1', 10, 300));
    // A limit that is raised takes effect at the next call.
    echo times(3, fn () => $limiter->check('raise', 2, 300)), times(3, fn () => $limiter->check('raise', 100, 300)), "\n";

    // A window is any time, whole seconds or not.
    TestClock::advance(0.25);
    echo times(3, fn () => $limiter->check('short', 2, 0.5)), ' ';
    TestClock::advance(0.75);
    echo times(3, fn () => $limiter->check('short', 2, 0.5)), "\n";

    // Without arguments: the object's own bucket, which consume() shares.
    $bucket = new TokenBucket($dsn, 'own' . __FILE__, 2, 1);
    echo (int) $bucket->consume(), times(2, fn () => $bucket->check()), (int) $bucket->consume(), "\n";
    TestClock::advance(1);
    echo (int) $bucket->consume(), "\n";
    $bucket->reset();
    echo (int) $bucket->consume(2), "\n";
}
?>
--EXPECT--
000000000011
bool(false)
11111111111111111111111111111111111111111111111111
bool(true)
00000000001
bool(false)
001111
001 001
1010
0
1
000000000011
bool(false)
11111111111111111111111111111111111111111111111111
bool(true)
00000000001
bool(false)
001111
001 001
1010
0
1
