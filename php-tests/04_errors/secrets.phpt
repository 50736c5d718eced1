--TEST--
Exceptions: no message, trace or dump shows a DSN, which may hold a password
--FILE--
<?php
foreach ([
    fn () => new TokenBucket('redos://user:hunter2@host', 'x'),
    fn () => new TokenBucket('redis://user:hunter2@host:port', 'x'),
    fn () => new TokenBucket('redis://user:hunt?er2@host', 'x'),
    fn () => new TokenBucket('redis://hunter2@host', 'x'),
    fn () => new TokenBucket('redis+unix://user:hunter2@socket', 'x'),
    fn () => new TokenBucket('memcached://user:hunter2@host', 'x'),
    fn () => new TokenBucket('shm:?password=hunter2', 'x'),
    fn () => new TokenBucket\SharedMemoryStorage('redis://user:hunter2@host'),
    fn () => new TokenBucket\ArrayStorage('redis://user:hunter2@host'),
] as $wrong) {
    try {
        $wrong();
    } catch (TokenBucket\ConfigurationException $e) {
        echo $e->getMessage(), "\n";
        ob_start();
        print_r($e->getTrace());
        echo $e, $e->getTraceAsString();
        var_dump(str_contains(ob_get_clean(), 'hunter2'));
    }
}

// Nor where it serves.
$dsn = 'redis+sentinel://user:hunter2@127.0.0.1:1/main?sentinel_password=hunter2&on_error=throw';
$storage = new TokenBucket\RedisStorage($dsn);
var_dump($storage);
ini_set('token_bucket.storage', $dsn);
ob_start();
foreach ([fn () => $storage->prepare(), fn () => (new TokenBucket($dsn, 'x', 1, 1))->consume()] as $call) {
    try {
        $call();
    } catch (TokenBucket\StorageException $e) {
        echo $e;
        print_r($e->getTrace());
    }
}
phpinfo();
var_dump($storage, @unserialize('x'));
$shown = ob_get_clean();
var_dump(str_contains($shown, 'hunter2'), str_contains($shown, '127.0.0.1:1'));
?>
--EXPECTF--
Unknown scheme "redos:" in the storage DSN, known are shm:, %s
bool(false)
The port in the storage DSN must be between 1 and 65535
bool(false)
The user, password and parameters in the storage DSN must be percent-encoded: "?" is %3F, "@" is %40
bool(false)
The storage DSN has a user but no password: write "user:password@" or ":password@"
bool(false)
The storage DSN must have the form redis+unix:///path/to/socket
bool(false)
The storage DSN must have the form memcached://h1[:port],h2[:port]
bool(false)
Unknown parameter "password" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, connect_timeout_ms
bool(false)
The DSN of this storage must begin with "shm:"
bool(false)
The DSN of this storage must begin with "array:"
bool(false)
object(TokenBucket\RedisStorage)#%d (1) {
  ["dsn"]=>
  string(%d) "redis+sentinel://***@127.0.0.1:1/main?sentinel_password=***&on_error=throw"
}
bool(false)
bool(true)
