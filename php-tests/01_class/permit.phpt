--TEST--
Permit: goes back once, by release() or its destruction, wherever the object was kept
--FILE--
<?php
use TokenBucket\{ArrayStorage, ConcurrencyLimit, Permit, TestClock};
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);

class Kept
{
    public static ?Permit $permit = null;
    public ?Permit $own = null;
    public ?self $self = null;

    public function __destruct()
    {
        // The permit may be gone before or after its keeper.
        $this->own?->release();
    }
}

function fails(ConcurrencyLimit $limit): void
{
    $permit = $limit->acquire();
    throw new DomainException((string) $limit->getActive());
}

function generator(ConcurrencyLimit $limit): Generator
{
    $permit = $limit->acquire();
    yield 1;
    yield 2;
}

foreach (['shm:', 'array:'] as $dsn) {
    TestClock::freeze(1_000);
    $limit = new ConcurrencyLimit($dsn, 'permit', 2, 10);
    $permit = $limit->acquire();
    var_dump($permit);
    echo "$dsn release: ", json_encode([$permit->release(), $limit->getActive(), $permit->release(), $permit->renew(), $permit->renew(5)]), "\n";
    $second = $limit->acquire();
    $permit->release();
    unset($permit);
    echo 'released twice: ', $limit->getActive(), "\n";

    // renew() begins the lifetime anew, for its own or another time.
    TestClock::advance(9);
    echo 'renew: ', json_encode($second->renew());
    TestClock::advance(9);
    echo ' ', $limit->getActive(), ' ', json_encode($second->renew(1.5));
    TestClock::advance(1.499999999);
    echo ' ', $limit->getActive();
    TestClock::advance(1e-9);
    echo ' ', $limit->getActive(), ' ', json_encode([$second->renew(), $second->release()]), "\n";

    // Objects share it; the last one that goes gives it back.
    $permit = $copy = $limit->acquire();
    $kept = [$permit, [$copy]];
    unset($permit, $copy, $kept[0]);
    echo 'shared: ', $limit->getActive();
    $kept = null;
    echo ' ', $limit->getActive(), "\n";

    // In a static, in a closure, in a generator, in a cycle, in a weak map.
    Kept::$permit = $limit->acquire();
    echo 'static: ', $limit->getActive();
    Kept::$permit = null;
    $bound = (function (Permit $permit): Closure {
        return fn () => $permit->renew();
    })($limit->acquire());
    echo ', closure: ', json_encode([$bound(), $limit->getActive()]);
    unset($bound);
    $generator = generator($limit);
    echo ', generator: ', $generator->current(), ' ', $limit->getActive();
    unset($generator);
    echo ' ', $limit->getActive();
    $cycle = new Kept;
    [$cycle->own, $cycle->self] = [$limit->acquire(), $cycle];
    unset($cycle);
    echo ', cycle: ', $limit->getActive();
    gc_collect_cycles();
    echo ' ', $limit->getActive(), "\n";

    // An exception unwinds it; one that is kept keeps nothing.
    try {
        fails($limit);
    } catch (DomainException $e) {
        echo 'exception: ', $e->getMessage(), ' ', $limit->getActive(), "\n";
    }
    try {
        (new ConcurrencyLimit($dsn, 'permit', 2))->acquire() ?? throw new LogicException;
        try {
            $permit = $limit->acquire();
            return_or_throw();
        } finally {
            $permit->release();
        }
    } catch (Error $e) {
        echo 'finally: ', get_class($e), ' ', $limit->getActive(), "\n";
    }

    // The limit may be gone, or be another by now.
    $permit = (new ConcurrencyLimit($dsn, 'permit', 2, 10))->acquire();
    $limit->__construct($dsn, 'other', 1);
    echo 'outlives: ', json_encode([$permit->renew(), $limit->getActive()]);
    unset($permit);
    $limit->__construct($dsn, 'permit', 2, 10);
    echo ' ', $limit->getActive(), "\n";

    // Other objects of the class, whose permits they are not.
    [$a, $b] = [$limit->acquire(), $limit->acquire()];
    echo 'equal: ', json_encode([$a == $b, $a === $a]), ' ', json_encode([json_encode($a), isset($a->identifier)]), "\n";
    $map = new WeakMap;
    $map[$a] = $reference = WeakReference::create($a);
    unset($a);
    echo 'weak: ', json_encode([$reference->get(), count($map), $limit->getActive()]), "\n";
    unset($b);
    TestClock::resume();
}

// An array storage that nothing else holds lives as long as its permits.
$limit = new ConcurrencyLimit(new ArrayStorage, 'own', 1);
$permit = $limit->acquire();
unset($limit);
var_dump($permit->renew());
$permit->release();

// What is held at the end goes back in any order, and whatever its destructors do.
$limit = new ConcurrencyLimit('shm:', 'end', 5);
Kept::$permit = $limit->acquire();
$last = new Kept;
[$last->own, $last->self] = [$limit->acquire(), $last];
$GLOBALS['global'] = $limit->acquire();
register_shutdown_function(function () use ($limit): void {
    $GLOBALS['late'] = $limit->acquire();
    echo 'shutdown: ', $limit->getActive(), "\n";
});
?>
--EXPECTF--
object(TokenBucket\Permit)#%d (2) {
  ["identifier"]=>
  string(6) "permit"
  ["lifetime"]=>
  float(10)
}
shm: release: [null,0,null,false,false]
released twice: 1
renew: true 1 true 1 0 [false,null]
shared: 1 0
static: 1, closure: [true,1], generator: 1 1 0, cycle: 1 0
exception: 1 0
finally: Error 0
outlives: [true,0] 0
equal: [false,true] ["{}",false]
weak: [null,0,1]
object(TokenBucket\Permit)#%d (2) {
  ["identifier"]=>
  string(6) "permit"
  ["lifetime"]=>
  float(10)
}
array: release: [null,0,null,false,false]
released twice: 1
renew: true 1 true 1 0 [false,null]
shared: 1 0
static: 1, closure: [true,1], generator: 1 1 0, cycle: 1 0
exception: 1 0
finally: Error 0
outlives: [true,0] 0
equal: [false,true] ["{}",false]
weak: [null,0,1]
bool(true)
shutdown: 4
