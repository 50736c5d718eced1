--TEST--
FirstOf: refund() goes to the limit that the same fiber has charged last
--FILE--
<?php
use TokenBucket\{FirstOf, FixedWindow};

[$quota, $credits] = [new FixedWindow('array:', 'quota', 3, 600), TokenBucket::per('array:', 'credits', 10, 86_400)];
$either = new FirstOf($quota, $credits);
$left = fn (): string => $quota->peek()->getRemainingTokens() . ' ' . $credits->peek()->getRemainingTokens() . "\n";
$fiber = fn (int $tokens) => new Fiber(function () use ($either, $tokens) {
    $either->consume($tokens);
    Fiber::suspend();
    return $either->refund($tokens);
});
[$first, $second, $third] = [$fiber(3), $fiber(4), $fiber(0)];
array_map(fn (Fiber $it) => $it->start(), [$first, $second, $third]);
echo $left();
$first->resume();
echo $left();
$second->resume();
echo $left();
$third->resume();
var_dump($first->getReturn(), $second->getReturn(), $third->getReturn(), $either->refund());
?>
--EXPECT--
0 6
3 6
3 10
bool(true)
bool(true)
bool(false)
bool(false)
