--TEST--
Storages written in PHP: a fiber may use a bucket while its storage waits in another; recursion is refused, also through fibers
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require __DIR__ . '/php_storage.inc';

/** Does something before it decides. */
class Waiting extends MemoryStorage
{
    public ?Closure $before = null;

    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        $this->before && ($this->before)();
        return parent::consume($identifier, $microtime, $full_microtime, $bootstrap_closure);
    }
}

$storage = new Waiting;
$bucket = new TokenBucket($storage, 'x', 3, 0.001);
$storage->before = fn () => Fiber::getCurrent() && Fiber::suspend();

echo "Four fibers and the main program, all at once\n";
$fibers = array_map(fn () => new Fiber(fn () => $bucket->consume()), range(1, 4));
foreach ($fibers as $fiber) {
    $fiber->start();
}
var_dump($bucket->consume());
foreach (array_reverse($fibers) as $fiber) {
    $fiber->resume();
}
echo json_encode(array_map(fn (Fiber $fiber) => $fiber->getReturn(), $fibers)), "\n";

echo "A fiber that never ends\n";
$lost = new Fiber(fn () => $bucket->attempt());
$lost->start();
unset($lost);
gc_collect_cycles();
echo json_encode($bucket->attempt()->isAccepted()), "\n";

echo "Recursion\n";
$asks = fn () => $bucket->consume();
thrown(
    function () use ($storage, $asks) {
        $storage->before = $asks;
        $asks();
    },
    function () use ($storage, $asks) {
        $storage->before = fn () => (new Fiber($asks))->start();
        $asks();
    },
    function () use ($storage, $asks) {
        $storage->before = function () use ($asks) {
            $inner = new Fiber(function () use ($asks) {
                Fiber::suspend();
                $asks();
            });
            $inner->start();
            $inner->resume();
        };
        (new Fiber($asks))->start();
    },
    function () use ($storage, $asks) {
        $storage->before = fn () => iterator_to_array((function () use ($asks) { yield from (function () use ($asks) { yield $asks(); })(); })());
        $asks();
    },
);

echo "What only looks like recursion\n";
class Own extends TokenBucket
{
    public function through(Waiting $storage): bool
    {
        return $storage->consume('y', 1, 10, fn () => true);
    }
}
$own = new Own($storage, 'z', 3, 0.001);
$storage->before = function () use ($storage, $own) {
    $storage->before = null;
    var_dump($own->consume());
};
var_dump($own->through($storage));

echo "After a fatal error in the storage\n";
register_shutdown_function(function () use ($storage, $own) {
    $storage->before = null;
    var_dump($own->consume());
});
$storage->before = fn () => trigger_error('fatal', E_USER_ERROR);
error_reporting(E_ALL & ~E_DEPRECATED);
$own->consume();
?>
--EXPECTF--
Four fibers and the main program, all at once
bool(true)
[false,false,true,true]
A fiber that never ends
false
Recursion
LogicException: consume(): a storage must not call the bucket for which its consume() is running
LogicException: consume(): a storage must not call the bucket for which its consume() is running
LogicException: consume(): a storage must not call the bucket for which its consume() is running
LogicException: consume(): a storage must not call the bucket for which its consume() is running
What only looks like recursion
bool(true)
bool(true)
After a fatal error in the storage

Fatal error: fatal in %s on line %d
bool(true)
