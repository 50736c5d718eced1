--TEST--
ConcurrencyLimit: at most $limit at once, until a permit goes back or its lifetime ends
--FILE--
<?php
use TokenBucket\{ArrayStorage, ConcurrencyLimit, FixedWindow, SharedMemoryStorage, TestClock};
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);

foreach (['shm:', 'array:', 'SharedMemoryStorage' => new SharedMemoryStorage, 'ArrayStorage' => new ArrayStorage] as $name => $storage) {
    TestClock::freeze(1_000);
    $limit = new ConcurrencyLimit($storage, 'report:x', 3, 10);
    [$a, $b, $c] = [$limit->acquire(), $limit->acquire(), $limit->acquire()];
    echo is_string($name) ? $name : $storage, ': ', get_class($a), ', the fourth ', json_encode($limit->acquire()), ', ', $limit->getActive(), " held\n";
    $b->release();
    $d = $limit->acquire();
    echo 'after a release: ', json_encode([$d !== null, $limit->acquire(), $limit->getActive()]), "\n";
    // A permit goes back when nothing holds the object any more.
    $c = null;
    $dropped = $limit->acquire();
    unset($dropped);
    $e = $limit->acquire();
    echo 'after destructions: ', json_encode([$e !== null, $limit->acquire(), $limit->getActive()]), "\n";
    // A lifetime ends to the nanosecond.
    TestClock::advance(9.999999999);
    echo 'lifetimes: ', $limit->getActive(), ' ', json_encode($limit->acquire());
    TestClock::advance(1e-9);
    $f = $limit->acquire();
    echo ', then ', $limit->getActive(), ' ', json_encode([$a->renew(), $d->renew(), $f->renew()]), "\n";
    // What ended does not free another's.
    [$g, $h] = [$limit->acquire(), $limit->acquire()];
    $a->release();
    unset($d, $e);
    echo 'late releases: ', $limit->getActive(), "\n";
    $limit->reset();
    echo 'reset: ', $limit->getActive(), ' ', json_encode([$f->renew(), $g->renew(), $h->renew()]), "\n";

    // Other limits, names and kinds of limits on the same identifier.
    $wide = new ConcurrencyLimit($storage, 'report:x', 5, lifetime: 60, name: 'wide');
    $held = [$wide->acquire(), $wide->acquire(), $wide->acquire()];
    echo 'another limit: ', json_encode([$limit->acquire(), $limit->getActive(), $wide->getActive()]), "\n";
    $other = new ConcurrencyLimit($storage, 'report:y', 1);
    echo 'another identifier: ', json_encode([$other->getActive(), $other->acquire() !== null, $other->getActive()]), "\n";
    $window = new FixedWindow($storage, 'report:x', 1, 60);
    $window->reset();
    echo 'another kind: ', json_encode([$window->consume(), $window->consume(), $wide->getActive()]), "\n";
    $held = null;
    echo 'in the end: ', $wide->getActive(), "\n";
}
var_dump(new ConcurrencyLimit('array:', 'shown', 2, 1.5));
TestClock::resume();

// A dry run denies none, and counts what it would have denied.
foreach (['shm:', 'array:'] as $dsn) {
    $watched = new ConcurrencyLimit("$dsn?enforce=0", "watched$dsn", 1, name: "watched $dsn");
    $permits = [$watched->acquire(), $watched->acquire(), $watched->acquire()];
    echo 'dry run: ', json_encode([array_map(is_object(...), $permits), $watched->getActive(), array_map(fn ($permit) => $permit->renew(), $permits)]);
    $permits[2]->release();
    unset($permits[1]);
    echo ' ', json_encode([$watched->getActive(), $permits[0]->renew(), $permits[2]->renew()]);
    $permits = null;
    echo ' ', $watched->getActive(), "\n";
}

// Some stay free for others.
foreach (['shm:', 'array:'] as $dsn) {
    $limit = new ConcurrencyLimit($dsn, 'leaves', 5);
    $low = [$limit->acquire(2), $limit->acquire(leave: 2), $limit->acquire(leave: 2)];
    $denied = [$limit->acquire(leave: 2), $limit->acquire(leave: 5), $limit->acquire(leave: PHP_INT_MAX)];
    $high = [$limit->acquire(), $limit->acquire(leave: 0)];
    echo 'leaves two: ', json_encode([array_map(is_object(...), $low), $denied, array_map(is_object(...), $high), $limit->acquire(), $limit->getActive()]), "\n";
    $low = $high = null;
}

// 1,024 at once is the most.
seed_chance();
foreach (['shm:', 'array:'] as $dsn) {
    $most = new ConcurrencyLimit($dsn, 'most', 1024, 126_230_400);
    $permits = array_map(fn () => $most->acquire(), range(1, 1024));
    echo 'most: ', count(array_filter($permits)), ' ', json_encode($most->acquire()), ' ', $most->getActive();
    shuffle($permits);
    while ($permit = array_pop($permits)) {
        $permit->release();
    }
    echo ' ', $most->getActive(), "\n";
}
?>
--EXPECTF--
shm:: TokenBucket\Permit, the fourth null, 3 held
after a release: [true,null,3]
after destructions: [true,null,3]
lifetimes: 3 null, then 1 [false,false,true]
late releases: 3
reset: 0 [false,false,false]
another limit: [null,3,3]
another identifier: [0,true,0]
another kind: [true,false,3]
in the end: 0
array:: TokenBucket\Permit, the fourth null, 3 held
after a release: [true,null,3]
after destructions: [true,null,3]
lifetimes: 3 null, then 1 [false,false,true]
late releases: 3
reset: 0 [false,false,false]
another limit: [null,3,3]
another identifier: [0,true,0]
another kind: [true,false,3]
in the end: 0
SharedMemoryStorage: TokenBucket\Permit, the fourth null, 3 held
after a release: [true,null,3]
after destructions: [true,null,3]
lifetimes: 3 null, then 1 [false,false,true]
late releases: 3
reset: 0 [false,false,false]
another limit: [null,3,3]
another identifier: [0,true,0]
another kind: [true,false,3]
in the end: 0
ArrayStorage: TokenBucket\Permit, the fourth null, 3 held
after a release: [true,null,3]
after destructions: [true,null,3]
lifetimes: 3 null, then 1 [false,false,true]
late releases: 3
reset: 0 [false,false,false]
another limit: [null,3,3]
another identifier: [0,true,0]
another kind: [true,false,3]
in the end: 0
object(TokenBucket\ConcurrencyLimit)#%d (3) {
  ["identifier"]=>
  string(5) "shown"
  ["limit"]=>
  int(2)
  ["lifetime"]=>
  float(1.5)
}
dry run: [[true,true,true],1,[true,true,true]] [1,true,false] 0
dry run: [[true,true,true],1,[true,true,true]] [1,true,false] 0
leaves two: [[true,true,true],[null,null,null],[true,true],null,5]
leaves two: [[true,true,true],[null,null,null],[true,true],null,5]
most: 1024 null 1024 0
most: 1024 null 1024 0
