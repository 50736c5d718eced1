--TEST--
Permit: Parameters are correctly validated; objects are made by acquire() alone
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\{ConcurrencyLimit, Permit};

$limit = new ConcurrencyLimit('array:', 'x', 2);
$permit = $limit->acquire();
thrown(
    fn () => new Permit,
    fn () => clone $permit,
    fn () => serialize($permit),
    fn () => unserialize('O:18:"TokenBucket\Permit":0:{}'),
    fn () => $permit->release(1),
    fn () => $permit->renew(1, 2),
    fn () => $permit->renew('long'),
    fn () => $permit->renew(0),
    fn () => $permit->renew(-0.0),
    fn () => $permit->renew(-1),
    fn () => $permit->renew(NAN),
    fn () => $permit->renew(INF),
    fn () => $permit->renew(1e-10),
    fn () => $permit->renew(126_230_400.1),
    fn () => $permit->own = 1,
    fn () => $permit->renew(126_230_400),
    fn () => $permit->renew(lifetime: 1e-9),
);
echo $limit->getActive(), "\n";
?>
--EXPECT--
Error: Call to private TokenBucket\Permit::__construct() from global scope
Error: Trying to clone an uncloneable object of class TokenBucket\Permit
Exception: Serialization of 'TokenBucket\Permit' is not allowed
Exception: Unserialization of 'TokenBucket\Permit' is not allowed
ArgumentCountError: TokenBucket\Permit::release() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Permit::renew() expects at most 1 argument, 2 given
TypeError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be of type ?float, string given
ValueError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Permit::renew(): Argument #1 ($lifetime) must be greater than 0 and at most four years, in seconds
Error: Cannot create dynamic property TokenBucket\Permit::$own
bool(true)
bool(true)
0
