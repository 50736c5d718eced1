--TEST--
TokenBucket: objects: their dump, a failed construction, and the operations they refuse
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\ArrayStorage;
use TokenBucket\Decision;
use TokenBucket\SharedMemoryStorage;

class Own extends TokenBucket
{
    private array $hidden = ['mine'];
    public function __construct() {}
    public function late(): static
    {
        parent::__construct('array:?prefix=secret', 'own', 2, 0.5);
        return $this;
    }
}
$own = new Own;
var_dump($own);
var_dump($own->late());

// Nothing of it is a property.
$bucket = new TokenBucket('array:', 'kept', 2, 0.001);
var_dump(get_object_vars($bucket), json_encode($bucket), isset($bucket->identifier));

// A constructor that fails leaves the object as it was.
thrown(
    fn () => $bucket->__construct('array:', '', 1, 1),
    fn () => $bucket->__construct('nowhere:', 'x', 1, 1),
    fn () => $bucket->__construct('array:', 'x', 0, 1),
);
echo $bucket->peek()->getLimit(), ' ', times(3, fn () => $bucket->consume()), "\n";

// A decision is of its moment, and outlives its bucket.
$decision = (new TokenBucket('array:', 'gone', 2, 0.001))->attempt();
var_dump($decision->getRemainingTokens(), $decision == (new TokenBucket('array:', 'gone', 2, 0.001))->peek(0));

$refused = [$bucket, $decision, new ArrayStorage, new SharedMemoryStorage];
foreach ($refused as $object) {
    $class = get_class($object);
    thrown(
        fn () => clone $object,
        fn () => serialize([$object]),
        fn () => unserialize(sprintf('O:%d:"%s":0:{}', strlen($class), $class)),
    );
}
?>
--EXPECTF--
object(Own)#%d (1) {
  ["hidden":"Own":private]=>
  array(1) {
    [0]=>
    string(4) "mine"
  }
}
object(Own)#%d (4) {
  ["hidden":"Own":private]=>
  array(1) {
    [0]=>
    string(4) "mine"
  }
  ["identifier"]=>
  string(3) "own"
  ["bucket_capacity"]=>
  int(2)
  ["tokens_per_second"]=>
  float(0.5)
}
array(0) {
}
string(2) "{}"
bool(false)
ValueError: TokenBucket::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
TokenBucket\ConfigurationException: Unknown scheme "nowhere:" in the storage DSN, known are shm:, %s
ValueError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be between 1 and 2147483647
2 110
int(1)
bool(false)
Error: Trying to clone an uncloneable object of class TokenBucket
Exception: Serialization of 'TokenBucket' is not allowed
Exception: Unserialization of 'TokenBucket' is not allowed
Error: Trying to clone an uncloneable object of class TokenBucket\Decision
Exception: Serialization of 'TokenBucket\Decision' is not allowed
Exception: Unserialization of 'TokenBucket\Decision' is not allowed
Error: Trying to clone an uncloneable object of class TokenBucket\ArrayStorage
Exception: Serialization of 'TokenBucket\ArrayStorage' is not allowed
Exception: Unserialization of 'TokenBucket\ArrayStorage' is not allowed
Error: Trying to clone an uncloneable object of class TokenBucket\SharedMemoryStorage
Exception: Serialization of 'TokenBucket\SharedMemoryStorage' is not allowed
Exception: Unserialization of 'TokenBucket\SharedMemoryStorage' is not allowed
