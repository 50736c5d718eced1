--TEST--
ConcurrencyLimit: Parameters are correctly validated, and storages without permits are refused
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow, MemcachedStorage, MysqlStorage};

thrown(
    fn () => new ConcurrencyLimit(null, 'x'),
    fn () => new ConcurrencyLimit(null, 'x', 5, 60, 'name', 1),
    fn () => new ConcurrencyLimit(null, 'x', 5, 60, []),
    fn () => new ConcurrencyLimit([], 'x', 5),
    fn () => new ConcurrencyLimit('reddis:', 'x', 5),
    fn () => new ConcurrencyLimit(null, '', 5),
    fn () => new ConcurrencyLimit(null, str_repeat('x', 4097), 5),
    fn () => new ConcurrencyLimit(null, 'x', 0),
    fn () => new ConcurrencyLimit(null, 'x', -1),
    fn () => new ConcurrencyLimit(null, 'x', 1025),
    fn () => new ConcurrencyLimit(null, 'x', PHP_INT_MAX),
    fn () => new ConcurrencyLimit(null, 'x', 'many'),
    fn () => new ConcurrencyLimit(null, 'x', 5, 0),
    fn () => new ConcurrencyLimit(null, 'x', 5, -1),
    fn () => new ConcurrencyLimit(null, 'x', 5, NAN),
    fn () => new ConcurrencyLimit(null, 'x', 5, INF),
    fn () => new ConcurrencyLimit(null, 'x', 5, 1e-10),
    fn () => new ConcurrencyLimit(null, 'x', 5, 126_230_400.1),
    fn () => new ConcurrencyLimit(null, 'x', 5, 'long'),
    fn () => (new ConcurrencyLimit(null, 'x', 5))->acquire(1, 2),
    fn () => (new ConcurrencyLimit(null, 'x', 5))->acquire(-1),
    fn () => (new ConcurrencyLimit(null, 'x', 5))->acquire(leave: 'some'),
    fn () => (new ConcurrencyLimit(null, 'x', 5))->getActive(1),
    fn () => (new ConcurrencyLimit(null, 'x', 5))->reset(1),
    fn () => clone new ConcurrencyLimit(null, 'x', 5),
    fn () => serialize(new ConcurrencyLimit(null, 'x', 5)),
    fn () => unserialize('O:28:"TokenBucket\ConcurrencyLimit":0:{}'),
    fn () => new Compound(new ConcurrencyLimit(null, 'x', 5)),
);
// As the other classes do it: what is empty is no name, and the largest and smallest numbers are fine.
echo json_encode([
    (new ConcurrencyLimit('array:', 'x', 1, 1e-9, ''))->getActive(),
    (new ConcurrencyLimit('array:', str_repeat('x', 4096), 1024, 126_230_400, null))->acquire() !== null,
    (new FixedWindow('array:', 'x', 1, 1, ''))->consume(),
]), "\n";

$object = new ConcurrencyLimit('array:', 'kept', 1);
thrown(
    fn () => new ConcurrencyLimit(new MemoryStorage, 'x', 5),
    fn () => new ConcurrencyLimit('memcached://127.0.0.1:1', 'x', 5),
    fn () => new ConcurrencyLimit(new MemcachedStorage('memcached://127.0.0.1:1'), 'x', 5),
    fn () => new ConcurrencyLimit('mysql://user:s3cret@127.0.0.1:1/db', 'x', 5),
    fn () => new ConcurrencyLimit(new MysqlStorage('mysql://user:s3cret@127.0.0.1:1/db'), 'x', 5),
    // A constructor that fails leaves the object as it was.
    fn () => $object->__construct('memcached://127.0.0.1:1', 'x', 5),
    fn () => $object->__construct('array:', 'x', 0),
);
ini_set('token_bucket.storage', 'memcached://127.0.0.1:1');
thrown(fn () => new ConcurrencyLimit(null, 'x', 5));
$permit = $object->acquire();
var_dump($permit !== null, $object->acquire());
?>
--EXPECTF--
ArgumentCountError: TokenBucket\ConcurrencyLimit::__construct() expects at least 3 arguments, 2 given
ArgumentCountError: TokenBucket\ConcurrencyLimit::__construct() expects at most 5 arguments, 6 given
TypeError: TokenBucket\ConcurrencyLimit::__construct(): Argument #5 ($name) must be of type ?string, array given
TypeError: TokenBucket\ConcurrencyLimit::__construct(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, array given
TokenBucket\ConfigurationException: Unknown scheme "reddis:" in the storage DSN, known are shm:, %s
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #3 ($limit) must be between 1 and 1024
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #3 ($limit) must be between 1 and 1024
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #3 ($limit) must be between 1 and 1024
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #3 ($limit) must be between 1 and 1024
TypeError: TokenBucket\ConcurrencyLimit::__construct(): Argument #3 ($limit) must be of type int, string given
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #4 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #4 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #4 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #4 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #4 ($lifetime) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #4 ($lifetime) must be greater than 0 and at most four years, in seconds
TypeError: TokenBucket\ConcurrencyLimit::__construct(): Argument #4 ($lifetime) must be of type float, string given
ArgumentCountError: TokenBucket\ConcurrencyLimit::acquire() expects at most 1 argument, 2 given
ValueError: TokenBucket\ConcurrencyLimit::acquire(): Argument #1 ($leave) must be greater than or equal to 0
TypeError: TokenBucket\ConcurrencyLimit::acquire(): Argument #1 ($leave) must be of type int, string given
ArgumentCountError: TokenBucket\ConcurrencyLimit::getActive() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\ConcurrencyLimit::reset() expects exactly 0 arguments, 1 given
Error: Trying to clone an uncloneable object of class TokenBucket\ConcurrencyLimit
Exception: Serialization of 'TokenBucket\ConcurrencyLimit' is not allowed
Exception: Unserialization of 'TokenBucket\ConcurrencyLimit' is not allowed
TypeError: TokenBucket\Compound::__construct(): Argument #1 must be of type TokenBucket\Limiter, TokenBucket\ConcurrencyLimit given
[0,true,true]
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
ValueError: TokenBucket\ConcurrencyLimit::__construct(): Argument #3 ($limit) must be between 1 and 1024
TokenBucket\ConfigurationException: TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); memcached, MariaDB and MySQL, and storages written in PHP hold no permits
bool(true)
NULL
