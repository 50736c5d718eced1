--TEST--
Storages written in PHP: exceptions, bad results and calls back in the middle of a call leave the bucket valid
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require __DIR__ . '/php_storage.inc';

/** Does as it is told. */
class ToldStorage extends MemoryStorage
{
    public function __construct(public ?Closure $told = null)
    {
    }

    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        return ($this->told)($bootstrap_closure, $identifier);
    }
}

$storage = new ToldStorage;
$bucket = new TokenBucket($storage, 'x', 10, 1);
$does = function (Closure $told) use ($storage, $bucket): Closure {
    return function () use ($storage, $bucket, $told) {
        $storage->told = $told;
        return $bucket->consume();
    };
};
$thrown = new DomainException('the database is away');
thrown(
    // What the contract does not know.
    fn () => $bucket->peek(),
    fn () => $bucket->reserve(),
    fn () => $bucket->refund(),
    fn () => $bucket->reset(),
    fn () => $bucket->check(),
    fn () => $bucket->check('192.0.2.1', 10, 300),
    fn () => (new TokenBucket($storage, 'x'))->consume(),
    fn () => (new TokenBucket($storage, 'x'))->attempt(),
    fn () => $bucket->consume(-1),
    // What it returns.
    $does(fn () => 1),
    $does(fn () => null),
    $does(fn () => new ArrayObject),
    // What it throws.
    $does(fn () => throw $thrown),
    $does(fn (Closure $closure) => $closure(1)),
    // Itself again.
    $does(fn () => $bucket->consume()),
    $does(fn () => $bucket->attempt()->isAccepted()),
);
try {
    $does(fn () => throw $thrown)();
} catch (DomainException $caught) {
    var_dump($caught === $thrown, basename($caught->getFile()));
}
// Of a class whose name has a NUL in it.
$nameless = new class implements TokenBucketStorage {
    public function prepare() {}
    public function bootstrap($identifier, $microtime) {}
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure) { return 1; }
};
try {
    (new TokenBucket($nameless, 'x', 1, 1))->consume();
} catch (TypeError $e) {
    // Not by PCRE, whose compiled patterns valgrind complains of.
    echo get_class($e), ': ', strstr($e->getMessage(), '@', true), strstr($e->getMessage(), '::'), "\n";
}
// Another bucket on the same storage, and all kinds of changes.
var_dump(
    $does(function () use ($storage) {
        $storage->told = fn () => true;
        return (new TokenBucket($storage, 'y', 1, 1))->consume();
    })(),
    $does(fn () => (bool) $bucket->__construct($storage, 'z', 1, 1) || true)(),
    $does(fn ($closure, $identifier) => $identifier === 'z')(),
);
$storage->told = function () use (&$lost) {
    $lost = null;
    return true;
};
$lost = new TokenBucket($storage, 'x', 1, 1);
var_dump($lost->consume(), $lost);

// A closure that outlives the call, and a bucket whose record it makes once more.
$storage->told = function (Closure $closure) use (&$kept) {
    $kept = $closure;
    return true;
};
$bucket->consume();
var_dump($kept(), isset($storage->records['z']));
thrown(
    fn () => new TokenBucket\Bootstrap,
    fn () => serialize($kept),
);

// The end, in the midst of a call.
register_shutdown_function(function () use ($does): void {
    echo 'after the end: ';
    var_dump($does(fn () => true)());
});
$does(fn () => exit("exit\n"))();
?>
--EXPECT--
LogicException: peek() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: reserve() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: refund() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: reset() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: check() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: check() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: TokenBucket::consume() needs a limit: $bucket_capacity and $tokens_per_second missing in TokenBucket::__construct()
LogicException: TokenBucket::attempt() needs a limit: $bucket_capacity and $tokens_per_second missing in TokenBucket::__construct()
ValueError: TokenBucket::consume(): Argument #1 ($token_count) must be greater than or equal to 0
TypeError: ToldStorage::consume(): Return value must be of type bool, int returned
TypeError: ToldStorage::consume(): Return value must be of type bool, null returned
TypeError: ToldStorage::consume(): Return value must be of type bool, ArrayObject returned
DomainException: the database is away
ArgumentCountError: TokenBucket\Bootstrap::__invoke() expects exactly 0 arguments, 1 given
LogicException: consume(): a storage must not call the bucket for which its consume() is running
LogicException: attempt(): a storage must not call the bucket for which its consume() is running
bool(true)
string(21) "php_storage_error.php"
TypeError: TokenBucketStorage::consume(): Return value must be of type bool, int returned
bool(true)
bool(true)
bool(true)
bool(true)
NULL
bool(true)
bool(true)
Error: Call to private TokenBucket\Bootstrap::__construct() from global scope
Exception: Serialization of 'Closure' is not allowed
exit
after the end: bool(true)