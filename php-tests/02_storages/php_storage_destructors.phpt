--TEST--
Storages written in PHP: a destructor that runs while a bucket releases its storage sees a valid bucket
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require __DIR__ . '/php_storage.inc';

/** Runs a closure when it is destroyed. */
class Destructed extends MemoryStorage
{
    public function __construct(private ?Closure $end = null)
    {
    }

    public function onEnd(Closure $end): void
    {
        $this->end = $end;
    }

    public function __destruct()
    {
        $this->end && ($this->end)();
    }
}

/** A storage whose last reference goes with the bucket that is returned. */
function bucket(?Closure $end = null, string $class = TokenBucket::class): TokenBucket
{
    return new $class(new Destructed($end), 'x', 10, 1);
}

function limit(TokenBucket $bucket): string
{
    ob_start();
    var_dump($bucket);
    preg_match('/"identifier"\]=>\s+string\(1\) "(\w)"\s+\["bucket_capacity"\]=>\s+int\((\d+)\)/', ob_get_clean(), $found);
    return "$found[1] $found[2]";
}

echo "A freed bucket\n";
$storage = new Destructed;
$bucket = new TokenBucket($storage, 'x', 10, 1);
$weak = WeakReference::create($bucket);
$map = new WeakMap;
$map[$bucket] = 'found';
$storage->onEnd(function () use ($weak, $map) {
    var_dump($weak->get()?->consume(), count($map));
    gc_collect_cycles();
});
unset($storage);
unset($bucket);

echo "A freed bucket of a class of one's own, whose property has a destructor\n";
class Own extends TokenBucket
{
    public $own;
}
$bucket = bucket(fn () => print("storage\n"), Own::class);
$weak = WeakReference::create($bucket);
$bucket->own = new Destructed(fn () => var_dump($weak->get()?->consume()));
unset($bucket);

echo "A freed bootstrap closure\n";
class Kept extends Destructed
{
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        $this->calls[] = (new ReflectionFunction($bootstrap_closure))->getClosureThis();
        return true;
    }
}
$storage = new Kept;
(new TokenBucket($storage, 'x', 10, 1))->consume();
$bootstrap = array_pop($storage->calls);
$weak = WeakReference::create($bootstrap);
$storage->onEnd(function () use ($weak) {
    $found = $weak->get();
    var_dump($found);
    $found && $found();
});
unset($storage);
unset($bootstrap);

echo "Constructed again\n";
$bucket = bucket();
$bucket->__construct(new Destructed(function () use ($bucket) {
    echo 'found ', limit($bucket), "\n";
    $bucket->__construct(new Destructed(fn () => print("third\n")), 'c', 30, 1);
}), 'a', 10, 1);
$bucket->__construct(new Destructed(fn () => print("second\n")), 'b', 20, 1);
echo 'has ', limit($bucket), "\n";
var_dump($bucket->consume());
unset($bucket);
gc_collect_cycles();

echo "Constructed again by the storage that is asked\n";
class Replaced extends Destructed
{
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        $GLOBALS['bucket']->__construct('array:', 'b', 1, 1);
        return true;
    }
}
$bucket = new TokenBucket(new Replaced(fn () => $GLOBALS['bucket']->__construct('array:', 'c', 2, 1)), 'a', 10, 1);
echo json_encode($bucket->consume()), ' ', limit($bucket), "\n";

echo "Destructors that throw\n";
$fails = fn () => throw new DomainException('destructor');
thrown(
    function () use ($fails) {
        $bucket = bucket($fails);
        unset($bucket);
    },
    fn () => bucket($fails)->__construct('array:', 'x', 1, 1),
);

echo "Circles of references\n";
$storage = new Destructed;
$storage->records['bucket'] = $bucket = new TokenBucket($storage, 'x', 10, 1);
$storage->onEnd(function () use ($bucket) {
    $bucket->__construct(new Destructed(fn () => print("last\n")), 'y', 10, 1);
    var_dump($bucket->consume());
});
unset($storage, $bucket);
gc_collect_cycles();
gc_collect_cycles();

echo "The end, in a destructor\n";
$last = bucket(fn () => exit("exit\n"));
unset($last);
?>
--EXPECT--
A freed bucket
NULL
int(0)
A freed bucket of a class of one's own, whose property has a destructor
NULL
storage
A freed bootstrap closure
NULL
Constructed again
found b 20
second
has c 30
bool(true)
third
Constructed again by the storage that is asked
true c 2
Destructors that throw
DomainException: destructor
DomainException: destructor
Circles of references
bool(true)
last
The end, in a destructor
exit
