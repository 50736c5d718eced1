--TEST--
SlidingWindow: a limit that is lowered: a list sees all hits, the places of shared memory only the lower ones. Never more than the old limit
--FILE--
<?php
use TokenBucket\{SlidingWindow, TestClock};
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);

foreach (['shm:', 'array:'] as $dsn) {
    TestClock::freeze(1_000_000);
    $ten = new SlidingWindow($dsn, 'lowered:x', 10, 60);
    $ten->consume(5);
    TestClock::advance(30);
    $ten->consume(5);
    $five = new SlidingWindow($dsn, 'lowered:x', 5, 60);
    echo times(1, fn () => $five->consume());
    TestClock::advance(30);
    echo times(6, fn () => $five->consume()), ' ', $ten->peek(0)->getRemainingTokens(), "\n";
}
?>
--EXPECT--
0111110 0
0000000 5
