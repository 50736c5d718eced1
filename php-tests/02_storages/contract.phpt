--TEST--
Storages: a bucket written in PHP can use the legacy contract
--INI--
token_bucket.test_clock=1
--FILE--
<?php
/* A bucket on the legacy contract: tokens become seconds, and a closure makes a new record. */
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

class PhpBucket
{
    public int $started = 0;

    public function __construct(
        private TokenBucketStorage $storage,
        private string $identifier,
        private int $capacity,
        private float $rate,
    ) {
    }

    public function consume(int $tokens): bool
    {
        return $this->storage->consume(
            $this->identifier,
            $tokens / $this->rate,
            $this->capacity / $this->rate,
            function () use ($tokens) {
                $this->started++;
                $empty_at = microtime(true) - ($this->capacity - $tokens) / $this->rate;
                $this->storage->bootstrap($this->identifier, $empty_at);
                return true;
            },
        );
    }
}

TestClock::freeze(1_000_000);
foreach ([new TokenBucket\SharedMemoryStorage, new TokenBucket\ArrayStorage] as $storage) {
    $storage->prepare();
    // A pause between microtime() and bootstrap() shifts the first level: then all of it once more, on new buckets.
    for ($same = $try = 0; $same < 990 && $try < 5; $try++) {
        $php = new PhpBucket($storage, "php$try" . __FILE__, 10, 3);
        $native = new TokenBucket($storage, "native$try" . __FILE__, 10, 3);
        mt_srand(7);
        $same = 0;
        for ($i = 0; $i < 1_000; $i++) {
            // Steps that are no fraction of a token's time, so that float rounding does not decide.
            TestClock::advance(mt_rand(0, 800_000) / 1_000_003);
            $tokens = mt_rand(1, 3);
            $same += $php->consume($tokens) === $native->consume($tokens) ? 1 : 0;
        }
    }
    // microtime() runs on while the first level is set, so a few decisions may differ.
    var_dump($same >= 990, $php->started > 0);
    // Without a closure a new bucket is full.
    var_dump($storage->consume('none' . __FILE__, 1, 2, null), $storage->consume('none' . __FILE__, 1.1, 2, null));
    var_dump($storage instanceof TokenBucketStorage, $storage);
}
thrown(
    fn () => $storage->bootstrap('x', 1),
    fn () => $storage->consume('', 1, 2, null),
    fn () => $storage->consume('x', -1, 2, null),
    fn () => $storage->consume('x', NAN, 2, null),
    fn () => $storage->consume('x', 1, 0, null),
    fn () => $storage->consume('x', 1, 2e8, null),
    fn () => $storage->consume('x', 1, 2, 'no_such_function'),
    fn () => $storage->consume('x', 1, 2, fn () => throw new DomainException('from the closure')),
    fn () => $storage->consume('x', 1, 2, fn () => false),
    fn () => $storage->consume('x', 1, 2),
    fn () => new TokenBucket\ArrayStorage('shm:'),
    fn () => new TokenBucket\SharedMemoryStorage('array:'),
    fn () => clone $storage,
    fn () => serialize($storage),
);
?>
--EXPECTF--
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
object(TokenBucket\SharedMemoryStorage)#%d (1) {
  ["dsn"]=>
  string(4) "shm:"
}
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
object(TokenBucket\ArrayStorage)#%d (1) {
  ["dsn"]=>
  string(6) "array:"
}
LogicException: bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
ValueError: TokenBucket\ArrayStorage::consume(): Argument #1 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\ArrayStorage::consume(): Argument #2 ($microtime) must be a finite number of seconds, 0 or above
ValueError: TokenBucket\ArrayStorage::consume(): Argument #2 ($microtime) must be a finite number of seconds, 0 or above
ValueError: TokenBucket\ArrayStorage::consume(): Argument #3 ($full_microtime) must be above 0 and at most four years, in seconds
ValueError: TokenBucket\ArrayStorage::consume(): Argument #3 ($full_microtime) must be above 0 and at most four years, in seconds
ValueError: TokenBucket\ArrayStorage::consume(): Argument #4 ($bootstrap_closure) must be a callable or null
DomainException: from the closure
bool(false)
ArgumentCountError: TokenBucket\ArrayStorage::consume() expects exactly 4 arguments, 3 given
TokenBucket\ConfigurationException: The DSN of this storage must begin with "array:"
TokenBucket\ConfigurationException: The DSN of this storage must begin with "shm:"
Error: Trying to clone an uncloneable object of class TokenBucket\ArrayStorage
Exception: Serialization of 'TokenBucket\ArrayStorage' is not allowed
