--TEST--
Methods: no closure, callable or reflection calls one on an object of another class, or on none
--FILE--
<?php
/*
 * What is asked for is null if the engine refuses it with a warning. Where it calls nevertheless, the object is one of the
 * class.
 */
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';

/** What a call returns, or the class of what it throws. */
function outcome(callable $call): string
{
    try {
        $result = @$call();
        return is_object($result) ? $result::class : json_encode($result);
    } catch (Throwable $e) {
        return $e::class;
    }
}

/** The outcomes of a closure of a method, bound in each way and then called; null: it could not be bound. */
function rebound(Closure $closure, object $same_class): array
{
    $bound = [
        fn () => $closure->bindTo(null),
        fn () => $closure->bindTo(null, null),
        fn () => $closure->bindTo(new stdClass),
        fn () => $closure->bindTo(new stdClass, stdClass::class),
        fn () => $closure->bindTo(new MemoryStorage),
        fn () => Closure::bind($closure, new ArrayObject, null),
        fn () => Closure::fromCallable($closure)->bindTo(new stdClass),
        fn () => $closure->bindTo($same_class),
    ];
    $outcomes = array_map(fn (callable $bind) => outcome(fn () => ($bind() ?? fn () => null)()), $bound);
    return [...$outcomes, outcome(fn () => $closure->call(new stdClass)), outcome(fn () => $closure->call(new MemoryStorage))];
}

/** A bucket without a value: its constructor has not run. */
class Bare extends TokenBucket
{
}

// The closure that a storage written in PHP is given.
class Rebinding extends MemoryStorage
{
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        $own = (new ReflectionFunction($bootstrap_closure))->getClosureThis();
        $invoke = new ReflectionMethod($own, '__invoke');
        echo 'Bootstrap: ', implode(' ', [
            ...rebound($bootstrap_closure, $own),
            outcome(fn () => $invoke->invoke(new stdClass)),
            outcome(fn () => $invoke->invoke(null)),
            outcome(fn () => $invoke->getClosure(new stdClass)),
            outcome(fn () => clone $own),
            outcome(fn () => $own()),
            outcome($bootstrap_closure),
        ]), "\n";
        return true;
    }
}
var_dump((new TokenBucket(new Rebinding, 'x', 10, 1))->consume());

// First-class callables and reflections of the other classes' methods.
$bucket = new TokenBucket('array:', 'x', 10, 1);
$permits = new TokenBucket\ConcurrencyLimit('array:', 'x', 10);
$methods = [
    [$bucket, 'consume', (new ReflectionClass('Bare'))->newInstanceWithoutConstructor()],
    [$bucket, 'check', new Bare('array:', 'y', 10, 1)],
    [new TokenBucket\FixedWindow('array:', 'x', 10, 1), 'consume', new TokenBucket\FixedWindow('array:', 'y', 10, 1)],
    [new TokenBucket\Compound($bucket), 'consume', new TokenBucket\Compound($bucket)],
    [new TokenBucket\ArrayStorage, 'prepare', new TokenBucket\ArrayStorage],
    [$bucket->attempt(), 'isAccepted', $bucket->attempt()],
    [$permits, 'getActive', $permits],
    [$permits->acquire(), 'renew', $permits->acquire()],
];
foreach ($methods as [$object, $name, $same_class]) {
    $method = new ReflectionMethod($object, $name);
    echo $object::class, '::', $name, ': ', implode(' ', [
        ...rebound($object->$name(...), $same_class),
        outcome(fn () => $method->invoke(new stdClass)),
        outcome(fn () => $method->invoke(null)),
        outcome(fn () => $method->getClosure(new stdClass)),
        outcome(fn () => call_user_func([$object::class, $name])),
        outcome(fn () => $method->invoke($object)),
    ]), "\n";
}

// A static method.
$per = TokenBucket::per(...);
$arguments = ['array:', 'static', 10, 1];
echo 'TokenBucket::per: ', implode(' ', [
    outcome(fn () => $per->bindTo(null)(...$arguments)),
    outcome(fn () => $per->bindTo(new stdClass) ?? 'refused'),
    outcome(fn () => $per->bindTo(null, stdClass::class) ?? 'refused'),
    outcome(fn () => (new ReflectionMethod('TokenBucket', 'per'))->invoke(new stdClass, ...$arguments)),
    outcome(fn () => (new ReflectionMethod('Bare', 'per'))->invoke(null, ...$arguments)),
    outcome(fn () => call_user_func(['Bare', 'per'], ...$arguments)),
]), "\n";

// Objects that no constructor has made.
foreach (['Bare', 'TokenBucket'] as $class) {
    echo $class, ': ', implode(' ', [
        outcome(fn () => (new ReflectionClass($class))->newInstanceWithoutConstructor()),
        outcome(fn () => (new ReflectionClass($class))->newInstanceWithoutConstructor()->attempt()),
        outcome(fn () => unserialize(sprintf('O:%d:"%s":0:{}', strlen($class), $class))),
    ]), "\n";
}
?>
--EXPECT--
Bootstrap: null null null null null null null true null null ReflectionException ReflectionException ReflectionException Error true true
bool(true)
TokenBucket::consume: null null null null null null null Error null null ReflectionException ReflectionException ReflectionException TypeError true
TokenBucket::check: null null null null null null null false null null ReflectionException ReflectionException ReflectionException TypeError false
TokenBucket\FixedWindow::consume: null null null null null null null true null null ReflectionException ReflectionException ReflectionException TypeError true
TokenBucket\Compound::consume: null null null null null null null true null null ReflectionException ReflectionException ReflectionException TypeError true
TokenBucket\ArrayStorage::prepare: null null null null null null null null null null ReflectionException ReflectionException ReflectionException TypeError null
TokenBucket\Decision::isAccepted: null null null null null null null true null null ReflectionException ReflectionException ReflectionException TypeError true
TokenBucket\ConcurrencyLimit::getActive: null null null null null null null 2 null null ReflectionException ReflectionException ReflectionException TypeError 2
TokenBucket\Permit::renew: null null null null null null null true null null ReflectionException ReflectionException ReflectionException TypeError true
TokenBucket::per: TokenBucket "refused" "refused" TokenBucket Bare Bare
Bare: Bare Error Exception
TokenBucket: TokenBucket Error Exception
