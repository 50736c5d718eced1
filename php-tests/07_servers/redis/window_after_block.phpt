--TEST--
CalendarWindow on Redis: a block is kept until the calendar's boundary, so that a call before it is not settled in the window after
--EXTENSIONS--
posix
--INI--
token_bucket.on_error=throw
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

use TokenBucket\CalendarWindow;

// A window that does not end in the next hour.
$unit = date('n-j', time() + 3_600) === '1-1' ? 'day' : 'year';
$redis = new Server('redis');
$window = new CalendarWindow($redis->dsn(), 'x', 10, $unit, 'UTC');
$before = $window->attempt(5);
$window->block(1);
$window->block(1);
$kept = (int) ltrim($redis->ask('TTL tb:x#d'), ':');
echo $kept > 3_000 ? 'kept' : "kept for $kept s", "\n";
wait_until(fn () => $window->attempt(10)->isAccepted());
var_dump($before->refund(), $window->consume());
?>
--EXPECT--
kept
bool(false)
bool(false)
