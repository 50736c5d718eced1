--TEST--
Decision: refund(): storages in PHP, wrong arguments, and code that runs in the middle
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{Compound, FixedWindow};

run_apart(__FILE__); // its outages are many

$bucket = new TokenBucket(new MemoryStorage, 'x', 5, 1);
$accepted = $bucket->attempt(5);
$denied = $bucket->attempt(5);
$native = (new TokenBucket('array:', 'x', 5, 1))->attempt();
thrown(
    fn () => [$accepted->isAccepted(), $accepted->getTokens(), $denied->isAccepted(), $denied->getTokens()],
    fn () => $accepted->refund(),
    fn () => $accepted->refund(),
    fn () => $denied->refund(),
    fn () => $native->refund(1),
    fn () => $native->refund(tokens: 1),
    // The wrong calls did not use it up.
    fn () => $native->refund(),
    fn () => $native->refund(),
);

/** A server that refuses connections: each is an outage of its own, of which the first call warns. */
function refusing(): string
{
    static $n = 0;
    $n++;
    return "redis://127.2.$n." . random_int(1, 254) . ':1/';
}

/** What runs in the middle of attempt(), whose decision comes from this host's own buckets. */
$codes = [
    'constructs' => fn () => $GLOBALS['limiter']->__construct(...$GLOBALS['limiter'] instanceof Compound ? [new TokenBucket('array:', 'other', 1, 1)] : ['array:', 'other', 1, 1]),
    'lets go' => function () {
        $GLOBALS['limiter'] = null;
        gc_collect_cycles();
    },
    'throws' => fn () => throw new DomainException('thrown'),
];
$kinds = [
    'TokenBucket' => fn (string $dsn) => TokenBucket::per($dsn, 'x', 5, 300),
    'FixedWindow' => fn (string $dsn) => new FixedWindow($dsn, 'x', 5, 300),
    'Compound' => fn (string $dsn) => new Compound(TokenBucket::per($dsn, 'x', 5, 300), new FixedWindow(refusing() . '?on_error=fallback', 'y', 5, 300)),
];
foreach ($kinds as $kind => $make) {
    foreach ($codes as $what => $code) {
        $limiter = $make($dsn = refusing() . '?on_error=fallback');
        echo "$kind, code $what: ";
        try {
            $decision = in_the_middle($code, fn () => $GLOBALS['limiter']->attempt(2), $ran);
            echo json_encode([$decision->isDegraded(), $decision->getTokens(), $decision->refund(), $decision->refund()]), ' ';
        } catch (DomainException $e) {
            echo $e->getMessage(), ' ';
        }
        // What an exception kept from the caller stays taken.
        $fresh = $kind === 'FixedWindow' ? new FixedWindow($dsn, 'x', 5, 300) : TokenBucket::per($dsn, 'x', 5, 300);
        echo 'ran ', $ran, ', left ', $fresh->peek(0)->getRemainingTokens(), "\n";
    }
}

/** A destructor that gives back while the limiter is used. */
class Guarded
{
    public function __construct(private TokenBucket\Decision $decision) {}
    public function __destruct()
    {
        echo json_encode($this->decision->refund()), ' ';
    }
}
$bucket = TokenBucket::per('array:', 'guarded', 5, 300);
$guard = new Guarded($bucket->attempt(3));
set_error_handler(function () use (&$guard): bool {
    $guard = null;
    return true;
});
// PHP's own warning about the argument runs the handler, and so the destructor, inside consume().
var_dump($bucket->consume('5.5'));
var_dump($bucket->peek(0)->getRemainingTokens());
?>
--EXPECT--
array(4) {
  [0]=>
  bool(true)
  [1]=>
  int(5)
  [2]=>
  bool(false)
  [3]=>
  int(0)
}
LogicException: refund() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: refund() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: refund() is not available on a storage written in PHP: TokenBucketStorage has consume() only
ArgumentCountError: TokenBucket\Decision::refund() expects exactly 0 arguments, 1 given
Error: Unknown named parameter $tokens
bool(true)
bool(false)
TokenBucket, code constructs: [true,2,true,false] ran 1, left 5
TokenBucket, code lets go: [true,2,true,false] ran 1, left 5
TokenBucket, code throws: thrown ran 1, left 3
FixedWindow, code constructs: [true,2,true,false] ran 1, left 5
FixedWindow, code lets go: [true,2,true,false] ran 1, left 5
FixedWindow, code throws: thrown ran 1, left 3
Compound, code constructs: [true,2,true,false] ran 2, left 5
Compound, code lets go: [true,2,true,false] ran 2, left 5
Compound, code throws: thrown ran 1, left 3
true bool(true)
int(0)
