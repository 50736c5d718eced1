--TEST--
Storages: names, prefixes and objects keep buckets apart
--FILE--
<?php
$take = fn (TokenBucketStorage|string $storage) => (int) (new TokenBucket($storage, __FILE__, 1, 0.001))->consume();

// Tables of shared memory, and in each the prefixes; the default one is called "default".
foreach (['shm:apart', 'shm:apart-2', 'shm:apart?prefix=a', 'shm:apart?prefix=', 'shm:', 'shm:default', 'shm:apart?prefix=tb%3A'] as $dsn) {
    echo "$dsn ", $take($dsn), $take($dsn), "\n";
}
// An object of shared memory is its table; an object of arrays has buckets of its own.
echo $take(new TokenBucket\SharedMemoryStorage('shm:apart')), $take(new TokenBucket\SharedMemoryStorage('shm:apart-3')), "\n";
$one = new TokenBucket\ArrayStorage;
echo $take($one), $take($one), $take(new TokenBucket\ArrayStorage), $take('array:'), $take('array:'), "\n";
$prefixed = new TokenBucket\ArrayStorage('array:?prefix=a');
echo $take($prefixed), $take($prefixed), "\n";
?>
--EXPECT--
shm:apart 10
shm:apart-2 10
shm:apart?prefix=a 10
shm:apart?prefix= 10
shm: 10
shm:default 00
shm:apart?prefix=tb%3A 00
01
10110
10
