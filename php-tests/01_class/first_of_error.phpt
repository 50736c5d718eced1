--TEST--
FirstOf: Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{ArrayStorage, Compound, ConcurrencyLimit, Decision, FirstOf, FixedWindow, LeakyBucket, Limiter};

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
$buckets = fn (int $count) => array_map(fn (int $i) => $bucket("many:$i"), range(1, $count));
$first = new FirstOf($bucket(), $bucket('y'));

echo "limiters\n";
thrown(
    fn () => new FirstOf,
    fn () => new FirstOf($bucket()),
    fn () => new FirstOf($bucket(), null),
    fn () => new FirstOf($bucket(), 'y'),
    fn () => new FirstOf($bucket(), new stdClass),
    fn () => new FirstOf($bucket(), new ConcurrencyLimit('array:', 'y', 1)),
    fn () => new FirstOf($bucket(), new Own),
    fn () => new FirstOf($bucket(), new Compound($bucket('y'))),
    fn () => new FirstOf($bucket('z'), $first),
    fn () => new Compound($bucket('z'), $first),
    fn () => new FirstOf(new Silent, $bucket()),
    fn () => new FirstOf($bucket(), new TokenBucket('array:', 'y')),
    fn () => new FirstOf($bucket('y', new MemoryStorage), $bucket()),
    fn () => new FirstOf($bucket(), new LeakyBucket('array:', 'x', 5, 60)),
    fn () => new FirstOf(plan: $bucket(), credits: $bucket('y')),
    fn () => new FirstOf(...$buckets(17)),
    fn () => (new FirstOf(...$buckets(16)))->attempt()->getChargedTo()[0],
    fn () => (new FirstOf($bucket(), new FixedWindow('array:', 'x', 4, 60)))->peek(5)->getLimit(),
);
echo "costs\n";
foreach (['consume', 'attempt', 'peek', 'refund'] as $method) {
    thrown(
        fn () => $first->$method(-1),
        fn () => $first->$method([1, 1]),
        fn () => $first->$method('two'),
        fn () => $first->$method(1, 2, 3),
    );
}
thrown(
    fn () => $first->attempt(1, -1),
    fn () => $first->peek(leave: 'all'),
    fn () => $first->attempt(1)->settle([1, 1]),
    fn () => $first->attempt(1)->settle(-1),
    fn () => $first->attempt(PHP_INT_MAX, PHP_INT_MAX)->isAccepted(),
    fn () => $first->block(0),
    fn () => $first->reset(1),
    fn () => $first->reserve(),
    fn () => clone $first,
    fn () => serialize($first),
    fn () => unserialize('O:19:"TokenBucket\FirstOf":0:{}'),
);
?>
--EXPECTF--
limiters
ArgumentCountError: TokenBucket\FirstOf::__construct() expects at least 2 arguments, 0 given
ArgumentCountError: TokenBucket\FirstOf::__construct() expects at least 2 arguments, 1 given
TypeError: TokenBucket\FirstOf::__construct(): Argument #2 must be of type TokenBucket\Limiter, null given
TypeError: TokenBucket\FirstOf::__construct(): Argument #2 must be of type TokenBucket\Limiter, string given
TypeError: TokenBucket\FirstOf::__construct(): Argument #2 must be of type TokenBucket\Limiter, stdClass given
TypeError: TokenBucket\FirstOf::__construct(): Argument #2 must be of type TokenBucket\Limiter, TokenBucket\ConcurrencyLimit given
TypeError: TokenBucket\FirstOf::__construct(): Argument #2 must be a TokenBucket, LeakyBucket, FixedWindow, CalendarWindow or SlidingWindow: the decision of a limiter written in PHP cannot be settled where it was made
TypeError: TokenBucket\FirstOf::__construct(): Argument #2 must be a single limiter: a FirstOf cannot contain a set
TypeError: TokenBucket\FirstOf::__construct(): Argument #2 must be a single limiter: a FirstOf cannot contain a set
TypeError: TokenBucket\Compound::__construct(): Argument #2 must not be a FirstOf: a Compound cannot contain one
Error: The limiter in argument #1 is not initialized: a constructor that overrides must call parent::__construct()
ValueError: TokenBucket\FirstOf::__construct(): Argument #2 must have a limit: $bucket_capacity and $tokens_per_second
ValueError: TokenBucket\FirstOf::__construct(): Argument #1 must not be on a storage written in PHP: TokenBucketStorage cannot give back what it took
ValueError: TokenBucket\FirstOf::__construct(): Argument #2 must not use the same bucket as another limiter of the FirstOf
ArgumentCountError: %STokenBucket\FirstOf::__construct() does not accept %s
ValueError: TokenBucket\FirstOf::__construct(): Argument #17 must not bring the limiters of the FirstOf above 16
string(4) "many"
int(5)
costs
ValueError: TokenBucket\FirstOf::consume(): Argument #1 ($token_count) must be greater than or equal to 0
TypeError: TokenBucket\FirstOf::consume(): Argument #1 ($token_count) must be of type int, array given
TypeError: TokenBucket\FirstOf::consume(): Argument #1 ($token_count) must be of type int, string given
ArgumentCountError: TokenBucket\FirstOf::consume() expects at most 1 argument, 3 given
ValueError: TokenBucket\FirstOf::attempt(): Argument #1 ($tokens) must be greater than or equal to 0
TypeError: TokenBucket\FirstOf::attempt(): Argument #1 ($tokens) must be of type int, array given
TypeError: TokenBucket\FirstOf::attempt(): Argument #1 ($tokens) must be of type int, string given
ArgumentCountError: TokenBucket\FirstOf::attempt() expects at most 2 arguments, 3 given
ValueError: TokenBucket\FirstOf::peek(): Argument #1 ($tokens) must be greater than or equal to 0
TypeError: TokenBucket\FirstOf::peek(): Argument #1 ($tokens) must be of type int, array given
TypeError: TokenBucket\FirstOf::peek(): Argument #1 ($tokens) must be of type int, string given
ArgumentCountError: TokenBucket\FirstOf::peek() expects at most 2 arguments, 3 given
ValueError: TokenBucket\FirstOf::refund(): Argument #1 ($tokens) must be greater than or equal to 0
TypeError: TokenBucket\FirstOf::refund(): Argument #1 ($tokens) must be of type int, array given
TypeError: TokenBucket\FirstOf::refund(): Argument #1 ($tokens) must be of type int, string given
ArgumentCountError: TokenBucket\FirstOf::refund() expects at most 1 argument, 3 given
ValueError: TokenBucket\FirstOf::attempt(): Argument #2 ($leave) must be greater than or equal to 0
TypeError: TokenBucket\FirstOf::peek(): Argument #2 ($leave) must be of type int, string given
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be a list with one number for the one limiter
ValueError: TokenBucket\Decision::settle(): Argument #1 ($tokens) must be greater than or equal to 0
bool(false)
ValueError: TokenBucket\FirstOf::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ArgumentCountError: TokenBucket\FirstOf::reset() expects exactly 0 arguments, 1 given
Error: Call to undefined method TokenBucket\FirstOf::reserve()
Error: Trying to clone an uncloneable object of class TokenBucket\FirstOf
Exception: Serialization of 'TokenBucket\FirstOf' is not allowed
Exception: Unserialization of 'TokenBucket\FirstOf' is not allowed
