--TEST--
attempt(), acquire(): PHP warns of a result that is not used
--SKIPIF--
<?php if (PHP_VERSION_ID < 80500) die('skip PHP has NoDiscard from 8.5 on');
--FILE--
<?php
use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow, LeakyBucket, SlidingWindow};
set_error_handler(function (int $level, string $text) { echo $text, "\n"; });
$bucket = TokenBucket::per('array:', 'x', 5, 60);
$bucket->attempt();
(new LeakyBucket('array:', 'x', 5, 60))->attempt();
(new FixedWindow('array:', 'x', 5, 60))->attempt();
(new SlidingWindow('array:', 'x', 5, 60))->attempt();
(new Compound($bucket))->attempt();
(new ConcurrencyLimit('array:', 'x', 5))->acquire();
if ($bucket->attempt()) {
    $bucket->consume();
}
echo (new ReflectionMethod('TokenBucket', 'attempt'))->getAttributes()[0]->getName(), "\n";
?>
--EXPECTF--
The return value of method TokenBucket::attempt() should either be used or intentionally ignored by casting it as (void)
The return value of method TokenBucket\LeakyBucket::attempt() should either be used or intentionally ignored by casting it as (void)
The return value of method TokenBucket\FixedWindow::attempt() should either be used or intentionally ignored by casting it as (void)
The return value of method TokenBucket\SlidingWindow::attempt() should either be used or intentionally ignored by casting it as (void)
The return value of method TokenBucket\Compound::attempt() should either be used or intentionally ignored by casting it as (void)
The return value of method TokenBucket\ConcurrencyLimit::acquire() should either be used or intentionally ignored by casting it as (void)
NoDiscard
