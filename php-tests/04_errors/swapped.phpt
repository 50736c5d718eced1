--TEST--
Exceptions: where an identifier stands in the place of the storage, the message says which argument is which
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{ConcurrencyLimit, FixedWindow, RedisStorage};

ob_start(fn (string $text): string => preg_replace('/known are [^;\n]*/', 'known are ...', $text));
thrown(
    fn () => new TokenBucket('login:192.0.2.1', 'redis://127.0.0.1', 5, 1),
    fn () => new TokenBucket('login', 'shm:', 5, 1),
    fn () => new TokenBucket('login:192.0.2.1', 5, 1),
    fn () => TokenBucket::per('login:192.0.2.1', 'shm:', 5, 300),
    fn () => new FixedWindow('login:192.0.2.1', 'shm:', 5, 300),
    fn () => new ConcurrencyLimit('report:7', 'shm:', 5),
    // These have a storage in the first place, or shall have no other argument.
    fn () => new TokenBucket('reddis://127.0.0.1', 'x', 5, 1),
    fn () => new TokenBucket('SHM', 'x', 5, 1),
    fn () => new TokenBucket('shm:a/b', 'x', 5, 1),
    fn () => new RedisStorage('login:192.0.2.1'),
);
?>
--EXPECT--
TokenBucket\ConfigurationException: Unknown scheme "login:" in the storage DSN, known are ...; the first argument is the storage, the second the identifier
TokenBucket\ConfigurationException: The storage DSN must begin with a scheme, known are ...; the first argument is the storage, the second the identifier
TokenBucket\ConfigurationException: Unknown scheme "login:" in the storage DSN, known are ...; the first argument is the storage, the second the identifier
TokenBucket\ConfigurationException: Unknown scheme "login:" in the storage DSN, known are ...; the first argument is the storage, the second the identifier
TokenBucket\ConfigurationException: Unknown scheme "login:" in the storage DSN, known are ...; the first argument is the storage, the second the identifier
TokenBucket\ConfigurationException: Unknown scheme "report:" in the storage DSN, known are ...; the first argument is the storage, the second the identifier
TokenBucket\ConfigurationException: Unknown scheme "reddis:" in the storage DSN, known are ...
TokenBucket\ConfigurationException: The storage DSN must begin with a scheme, known are ...
TokenBucket\ConfigurationException: Shared memory name "a/b" must be 1 to 64 letters, digits, "_" or "-"
TokenBucket\ConfigurationException: Unknown scheme "login:" in the storage DSN, known are ...
