--TEST--
TokenBucket: can be extended, and consume() overridden; cannot be cloned, compared or serialized
--FILE--
<?php
require __DIR__ . '/../utils.inc';

class Counting extends TokenBucket
{
    public int $calls = 0;

    public function __construct(string $id)
    {
        parent::__construct('array:', "counting-$id", 2, 0.001);
    }

    public function consume(int $token_count = 1): bool
    {
        $this->calls++;
        return parent::consume($token_count);
    }
}
class Silent extends TokenBucket
{
    public function __construct() {}
}

$counting = new Counting('a');
echo get_class($counting), ' ', times(3, fn () => $counting->consume()), ' ', $counting->calls, "\n";
var_dump($counting instanceof TokenBucket, $counting instanceof TokenBucket\Limiter, $counting == new Counting('b'));
var_dump($counting);
thrown(
    fn () => (new Silent)->consume(),
    fn () => (new Silent)->check('a', 1),
    fn () => clone $counting,
    fn () => serialize($counting),
    fn () => unserialize('O:11:"TokenBucket":0:{}'),
    fn () => unserialize('O:8:"Counting":1:{s:5:"calls";i:1;}'),
    fn () => var_export(new Silent, true),
);
?>
--EXPECTF--
Counting 110 3
bool(true)
bool(true)
bool(false)
object(Counting)#%d (4) {
  ["calls"]=>
  int(3)
  ["identifier"]=>
  string(10) "counting-a"
  ["bucket_capacity"]=>
  int(2)
  ["tokens_per_second"]=>
  float(0.001)
}
Error: The object is not initialized: a constructor that overrides must call parent::__construct()
Error: The object is not initialized: a constructor that overrides must call parent::__construct()
Error: Trying to clone an uncloneable object of class Counting
Exception: Serialization of 'Counting' is not allowed
Exception: Unserialization of 'TokenBucket' is not allowed
Exception: Unserialization of 'Counting' is not allowed
string(%d) "%aSilent%a"
