--TEST--
Memory: repeated work of any kind leaks nothing
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/flat.inc';

/** A storage in PHP that makes a record each time, and keeps none. */
class Forgetful implements TokenBucketStorage
{
    public function __construct(public bool $fails = false) {}
    public function prepare() {}
    public function bootstrap($identifier, $microtime) {}
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        return $this->fails ? throw new DomainException($identifier) : $bootstrap_closure();
    }
}

/** One that keeps the closure, and so itself: the collector's to find. */
class Cyclic extends Forgetful
{
    public $closure;
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        $this->closure = $bootstrap_closure;
        return true;
    }
}

$shm = new TokenBucket\SharedMemoryStorage('shm:memory');
$array = new TokenBucket\ArrayStorage;
foreach (['shm:memory' => 'shm:memory', 'array:' => 'array:', 'SharedMemoryStorage' => $shm, 'ArrayStorage' => $array] as $name => $storage) {
    flat("calls on $name", calls($storage), times());
    // On array: the tables grow in steps until they have room for all entries between two sweeps.
    flat("new buckets on $name", objects($storage), times(), is_counted() ? 40_000 : 600);
    flat("new Compounds on $name", compounds($storage), times(), is_counted() ? 40_000 : 600);
    flat("permits on $name", permits($storage), intdiv(times(), 4));
}

foreach ([$shm, $array] as $storage) {
    flat('the classic contract of ' . $storage::class, function (int $i) use ($storage): void {
        $storage->consume("classic-$i", 0.000001, 0.000002, fn (): bool => $storage->bootstrap("classic-$i", 0.000001) ?? true);
    }, times());
}
flat('new storages', function (int $i): void {
    (new TokenBucket(new TokenBucket\ArrayStorage, 'x', 10, 1))->consume();
    (new TokenBucket(new TokenBucket\SharedMemoryStorage('shm:memory'), 'x', 10, 1e6))->consume();
}, intdiv(times(), 10));
flat('DSNs without end', fn (int $i) => (new TokenBucket("array:?prefix=$i", 'x', 10, 1))->consume(), intdiv(times(), 10));
$zone = fn (int $i): string => sprintf('+%02d:%02d:%02d', intdiv($i, 3600), intdiv($i, 60) % 60, $i % 60);
flat('time zones without end', fn (int $i) => new TokenBucket\CalendarWindow('array:', 'x', 1, 'day', $zone($i)), times(), is_counted() ? 2_000 : 600);

$bucket = new TokenBucket('shm:memory', 'thrown', 10, 1);
$fails = new TokenBucket(new Forgetful(true), 'fails', 10, 1);
$down = new TokenBucket('redis://:s3cret@127.0.0.1:1?on_error=throw', 'down', 10, 1);
flat('ValueError', fn () => caught(ValueError::class, fn () => $bucket->consume(-1)), times());
flat('ValueError of a constructor', fn (int $i) => caught(ValueError::class, fn () => new TokenBucket('shm:memory', "x-$i", 0, 1)), times());
flat('TypeError', fn () => caught(TypeError::class, fn () => $bucket->consume([])), times());
flat('LogicException', fn () => caught(LogicException::class, fn () => (new TokenBucket('shm:memory', 'x'))->consume()), times());
flat('ConfigurationException', fn (int $i) => caught(TokenBucket\ConfigurationException::class, fn () => new TokenBucket("nowhere-$i:", 'x', 1, 1)), times());
flat('StorageException', fn () => caught(TokenBucket\StorageException::class, fn () => $down->consume()), times());
flat('an exception of a storage in PHP', fn () => caught(DomainException::class, fn () => $fails->consume()), times());
flat('what cannot be cloned', fn () => caught(Error::class, fn () => clone $bucket), times());

flat('decisions', function () use ($bucket): void {
    $decision = $bucket->attempt();
    $seen = [json_encode($decision), print_r($decision, true), (array) $decision, $decision == $bucket->peek(), print_r($bucket, true)];
    caught(Error::class, fn () => clone $decision);
}, times());
$compound = new TokenBucket\Compound($bucket, new TokenBucket\FixedWindow('array:', 'thrown', 1, 1e6, name: "\"\\\0ü"));
flat('decisions over HTTP', function () use ($compound): void {
    $decision = $compound->attempt();
    $seen = [$decision->getHeaders(), $decision->getDeniedBy(), $decision->getRetryAfterSeconds(), $decision->refund(), $decision->refund(), print_r($compound, true)];
    caught(LogicException::class, fn () => $compound->peek(0)->getProblem());
    $compound->attempt(2)->getProblem();
}, times());
flat('errors of a Compound', function () use ($compound, $bucket): void {
    caught(ArgumentCountError::class, fn () => new TokenBucket\Compound);
    caught(ValueError::class, fn () => new TokenBucket\Compound($compound, $bucket));
    caught(TypeError::class, fn () => new TokenBucket\Compound($bucket, new stdClass));
    caught(ValueError::class, fn () => $compound->consume([1]));
    caught(TypeError::class, fn () => $compound->consume([1, null]));
    caught(ValueError::class, fn () => $compound->block(0));
    caught(Error::class, fn () => clone $compound);
}, times());
flat('a Compound constructed again', fn (int $i) => $compound->__construct($bucket, new TokenBucket\LeakyBucket('array:', 'again', 10, 1)), times());
$permits = new TokenBucket\ConcurrencyLimit('shm:memory', 'shown', 2);
flat('objects of permits', function () use ($permits): void {
    $permit = $permits->acquire();
    $seen = [print_r($permit, true), print_r($permits, true), (array) $permit];
    caught(Error::class, fn () => clone $permit);
    caught(ValueError::class, fn () => $permit->renew(0));
    caught(ValueError::class, fn () => new TokenBucket\ConcurrencyLimit('shm:memory', 'x', 0));
    caught(TokenBucket\ConfigurationException::class, fn () => new TokenBucket\ConcurrencyLimit('memcached://127.0.0.1:1', 'x', 1));
    $cycle = new stdClass;
    [$cycle->self, $cycle->permit] = [$cycle, $permits->acquire()];
    unset($cycle);
    gc_collect_cycles();
    $permits->getActive() === 1 || throw new LogicException;
}, intdiv(times(), 10));
flat('permits constructed again', fn (int $i) => $permits->__construct('shm:memory', "again-$i", 2), times());
flat('per() of an extending class', function (int $i): void {
    OwnKey::per('array:', "per-$i", 10, 0.001)->check('client', 10, 1);
    caught(ValueError::class, fn () => OwnKey::per('array:', 'x', 0, 1));
}, times());
flat('clients\' addresses', function (int $i): void {
    TokenBucket\client_network(TokenBucket\client_address(['REMOTE_ADDR' => '10.1.2.3', 'HTTP_X_FORWARDED_FOR' => "2001:db8::$i, [2001:db8:1:2::1]:4711"], ['10.0.0.0/8', '2001:db8::/64']), 56);
    caught(ValueError::class, fn () => TokenBucket\client_address([], ['10.0.0.0/8', 'x']));
    caught(TypeError::class, fn () => TokenBucket\client_address([], [5]));
    caught(ValueError::class, fn () => TokenBucket\client_network('::1', 0));
}, times());
flat('objects constructed again', fn (int $i) => $bucket->__construct('shm:memory', "again-$i", 10, 1), times());
flat('statistics()', fn () => TokenBucket\statistics(), intdiv(times(), 20));
flat('directives', function (int $i): void {
    ini_set('token_bucket.prefix', 'p' . $i % 7 . ':');
    ini_set('token_bucket.storage', $i % 2 ? 'array:' : 'shm:memory');
    ini_set('token_bucket.on_error', $i % 2 ? 'open' : 'closed');
    @ini_set('token_bucket.on_error', 'wrong');
    (new TokenBucket(null, 'ini', 10, 1e6))->consume();
    foreach (['prefix', 'storage', 'on_error'] as $name) {
        ini_restore("token_bucket.$name");
    }
}, times());
flat('the test clock', function (int $i): void {
    TokenBucket\TestClock::freeze(1_000_000 + $i);
    (new TokenBucket('shm:clock', 'x', 1, 0.1))->consume();
    TokenBucket\TestClock::advance(0.1);
    TokenBucket\TestClock::resume();
    caught(ValueError::class, fn () => TokenBucket\TestClock::freeze(-1));
}, times());

$php = new TokenBucket(new Forgetful, 'php', 10, 1);
flat('a storage in PHP', fn () => $php->consume() && $php->attempt(), times());
flat('new storages in PHP', fn () => (new TokenBucket(new Forgetful, 'php', 10, 1))->consume(), times());
flat('closures that are kept', function (int $i): void {
    (new TokenBucket(new Cyclic, 'php', 10, 1))->consume();
    // Before the collector comes by itself, which takes more room each time.
    $i % 500 || gc_collect_cycles();
}, times());
?>
--EXPECT--
calls on shm:memory: flat
new buckets on shm:memory: flat
new Compounds on shm:memory: flat
permits on shm:memory: flat
calls on array:: flat
new buckets on array:: flat
new Compounds on array:: flat
permits on array:: flat
calls on SharedMemoryStorage: flat
new buckets on SharedMemoryStorage: flat
new Compounds on SharedMemoryStorage: flat
permits on SharedMemoryStorage: flat
calls on ArrayStorage: flat
new buckets on ArrayStorage: flat
new Compounds on ArrayStorage: flat
permits on ArrayStorage: flat
the classic contract of TokenBucket\SharedMemoryStorage: flat
the classic contract of TokenBucket\ArrayStorage: flat
new storages: flat
DSNs without end: flat
time zones without end: flat
ValueError: flat
ValueError of a constructor: flat
TypeError: flat
LogicException: flat
ConfigurationException: flat
StorageException: flat
an exception of a storage in PHP: flat
what cannot be cloned: flat
decisions: flat
decisions over HTTP: flat
errors of a Compound: flat
a Compound constructed again: flat
objects of permits: flat
permits constructed again: flat
per() of an extending class: flat
clients' addresses: flat
objects constructed again: flat
statistics(): flat
directives: flat
the test clock: flat
a storage in PHP: flat
new storages in PHP: flat
closures that are kept: flat
