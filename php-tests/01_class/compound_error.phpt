--TEST--
Compound: Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{ArrayStorage, Compound, Decision, FixedWindow, LeakyBucket, Limiter};

class Own implements Limiter
{
    public function consume(int $token_count = 1): bool { return true; }
    public function attempt(int $tokens = 1): Decision { throw new DomainException; }
    public function peek(int $tokens = 1): Decision { throw new DomainException; }
    public function refund(int $tokens = 1): bool { return true; }
    public function reset(): void {}
    public function block(float $seconds): void {}
}
class Silent extends TokenBucket
{
    public function __construct() {}
}
$bucket = fn (string $id = 'x', $storage = 'array:') => TokenBucket::per($storage, $id, 5, 60);
$buckets = fn (int $count, int $from = 0) => array_map(fn (int $i) => $bucket("many:$i"), range($from, $from + $count - 1));
$storage = new ArrayStorage;

echo "limiters\n";
thrown(
    fn () => new Compound,
    fn () => new Compound(...[]),
    fn () => new Compound(null),
    fn () => new Compound('x'),
    fn () => new Compound([$bucket()]),
    fn () => new Compound($bucket(), new stdClass),
    fn () => new Compound($bucket(), new ArrayStorage),
    fn () => new Compound($bucket(), new Own),
    fn () => new Compound(new Silent),
    fn () => new Compound($bucket(), new TokenBucket('array:', 'y')),
    fn () => new Compound(new TokenBucket('array:', 'y', 5)),
    fn () => new Compound(new TokenBucket('array:', 'y', tokens_per_second: 5)),
    fn () => new Compound($bucket(), $bucket('y', new MemoryStorage)),
    fn () => new Compound(new LeakyBucket(new MemoryStorage, 'y', 5, 60)),
    fn () => count(array_unique(array_map(json_encode(...), [new Compound(...$buckets(16))]))),
    fn () => new Compound(...$buckets(17)),
    fn () => new Compound(new Compound(...$buckets(10)), $bucket('a'), new Compound(...$buckets(6, 10))),
);
echo "the same bucket\n";
thrown(
    fn () => new Compound($same = $bucket(), $same),
    fn () => new Compound($bucket(), $bucket('y'), $bucket()),
    fn () => new Compound($bucket(), new TokenBucket('array:', 'x', 7, 1)),
    fn () => new Compound($bucket(), new LeakyBucket('array:', 'x', 5, 60)),
    fn () => new Compound(new FixedWindow('array:', 'x', 5, 60), new FixedWindow('array:', 'x', 6, 7)),
    fn () => new Compound($bucket(), new Compound($bucket('y'), new Compound($bucket()))),
    fn () => new Compound($bucket('x', 'array:?enforce=0'), $bucket()),
    fn () => new Compound($bucket('x', 'redis://127.0.0.1:1?timeout_ms=7'), $bucket('x', 'redis://127.0.0.1:1?on_error=open')),
    fn () => new Compound($bucket('x', 'shm:'), $bucket('x', 'shm:default')),
    fn () => new Compound($bucket('x', $storage), $bucket('x', $storage)),
);
echo "other buckets\n";
thrown(
    fn () => (new Compound($bucket(), $bucket('X')))->peek()->getLimit(),
    fn () => (new Compound($bucket(), new FixedWindow('array:', 'x', 4, 60)))->peek()->getLimit(),
    fn () => (new Compound($bucket(), $bucket('x', 'shm:')))->peek()->getLimit(),
    fn () => (new Compound($bucket('x', 'shm:'), $bucket('x', 'shm:apart')))->peek()->getLimit(),
    fn () => (new Compound($bucket(), $bucket('x', 'array:?prefix=b:')))->peek()->getLimit(),
    fn () => (new Compound($bucket(), $bucket('x', $storage)))->peek()->getLimit(),
);
echo "costs\n";
$compound = new Compound($bucket(), $bucket('y'), new Compound($bucket('z')));
foreach (['consume', 'attempt', 'peek', 'refund'] as $method) {
    thrown(
        fn () => $compound->$method(-1),
        fn () => $compound->$method(PHP_INT_MIN),
        fn () => $compound->$method([]),
        fn () => $compound->$method([1, 1]),
        fn () => $compound->$method([1, 1, 1, 1]),
        fn () => $compound->$method([1, 1, -1]),
        fn () => $compound->$method([1, PHP_INT_MIN, 1]),
        fn () => $compound->$method([1, 1.0, 1]),
        fn () => $compound->$method(['1', 1, 1]),
        fn () => $compound->$method([1, null, 1]),
        fn () => $compound->$method([1, [1], 1]),
        fn () => $compound->$method('two'),
        fn () => $compound->$method(new stdClass),
        fn () => $compound->$method(1, 2, 3),
        fn () => $compound->$method(count: 2),
    );
}
// A reference in a list is its value; a number in a string is a number, as in every method.
$one = 1;
thrown(
    fn () => $compound->peek()->getRemainingTokens(),
    fn () => $compound->consume([&$one, 1, 1]),
    fn () => $compound->consume('2'),
    fn () => $compound->consume(PHP_INT_MAX),
    fn () => $compound->consume([0, 0, PHP_INT_MAX]),
    fn () => $compound->peek()->getRemainingTokens(),
);
echo "the object\n";
thrown(
    fn () => $compound->reset(1),
    fn () => $compound->block(),
    fn () => $compound->reserve(),
    fn () => clone $compound,
    fn () => serialize($compound),
    fn () => unserialize('O:20:"TokenBucket\Compound":0:{}'),
);
?>
--EXPECT--
limiters
ArgumentCountError: TokenBucket\Compound::__construct() expects at least 1 argument, 0 given
ArgumentCountError: TokenBucket\Compound::__construct() expects at least 1 argument, 0 given
TypeError: TokenBucket\Compound::__construct(): Argument #1 must be of type TokenBucket\Limiter, null given
TypeError: TokenBucket\Compound::__construct(): Argument #1 must be of type TokenBucket\Limiter, string given
TypeError: TokenBucket\Compound::__construct(): Argument #1 must be of type TokenBucket\Limiter, array given
TypeError: TokenBucket\Compound::__construct(): Argument #2 must be of type TokenBucket\Limiter, stdClass given
TypeError: TokenBucket\Compound::__construct(): Argument #2 must be of type TokenBucket\Limiter, TokenBucket\ArrayStorage given
TypeError: TokenBucket\Compound::__construct(): Argument #2 must be a TokenBucket, LeakyBucket, FixedWindow, CalendarWindow, SlidingWindow or Compound: a limiter written in PHP cannot be charged together with others
Error: The limiter in argument #1 is not initialized: a constructor that overrides must call parent::__construct()
ValueError: TokenBucket\Compound::__construct(): Argument #2 must have a limit: $bucket_capacity and $tokens_per_second
ValueError: TokenBucket\Compound::__construct(): Argument #1 must have a limit: $bucket_capacity and $tokens_per_second
ValueError: TokenBucket\Compound::__construct(): Argument #1 must have a limit: $bucket_capacity and $tokens_per_second
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not be on a storage written in PHP: TokenBucketStorage cannot give back what it took
ValueError: TokenBucket\Compound::__construct(): Argument #1 must not be on a storage written in PHP: TokenBucketStorage cannot give back what it took
int(1)
ValueError: TokenBucket\Compound::__construct(): Argument #17 must not bring the limiters of the Compound above 16
ValueError: TokenBucket\Compound::__construct(): Argument #3 must not bring the limiters of the Compound above 16
the same bucket
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #3 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
other buckets
int(5)
int(4)
int(5)
int(5)
int(5)
int(5)
costs
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be greater than or equal to 0
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be greater than or equal to 0
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must contain only numbers of 0 or more
ValueError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must contain only numbers of 0 or more
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, string given
TypeError: TokenBucket\Compound::consume(): Argument #1 ($token_count) must be of type array|int, stdClass given
ArgumentCountError: TokenBucket\Compound::consume() expects at most 1 argument, 3 given
Error: Unknown named parameter $count
ValueError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must contain only numbers of 0 or more
ValueError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must contain only numbers of 0 or more
TypeError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be of type array|int, string given
TypeError: TokenBucket\Compound::attempt(): Argument #1 ($tokens) must be of type array|int, stdClass given
ArgumentCountError: TokenBucket\Compound::attempt() expects at most 2 arguments, 3 given
Error: Unknown named parameter $count
ValueError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must contain only numbers of 0 or more
ValueError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must contain only numbers of 0 or more
TypeError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be of type array|int, string given
TypeError: TokenBucket\Compound::peek(): Argument #1 ($tokens) must be of type array|int, stdClass given
ArgumentCountError: TokenBucket\Compound::peek() expects at most 2 arguments, 3 given
Error: Unknown named parameter $count
ValueError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be greater than or equal to 0
ValueError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be a list with one number for each of the 3 limiters
ValueError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must contain only numbers of 0 or more
ValueError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must contain only numbers of 0 or more
TypeError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be of type array|int, with ints in the array
TypeError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be of type array|int, string given
TypeError: TokenBucket\Compound::refund(): Argument #1 ($tokens) must be of type array|int, stdClass given
ArgumentCountError: TokenBucket\Compound::refund() expects at most 1 argument, 3 given
Error: Unknown named parameter $count
int(5)
bool(true)
bool(true)
bool(false)
bool(false)
int(2)
the object
ArgumentCountError: TokenBucket\Compound::reset() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Compound::block() expects exactly 1 argument, 0 given
Error: Call to undefined method TokenBucket\Compound::reserve()
Error: Trying to clone an uncloneable object of class TokenBucket\Compound
Exception: Serialization of 'TokenBucket\Compound' is not allowed
Exception: Unserialization of 'TokenBucket\Compound' is not allowed
