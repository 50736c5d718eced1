--TEST--
Exceptions: an unusable DSN: the message names the fault and lists the accepted values
--FILE--
<?php
use TokenBucket\ArrayStorage;
use TokenBucket\ConfigurationException;
use TokenBucket\SharedMemoryStorage;

foreach ([
    '', 'shm', ':', '://', 'SHM:', ' shm:', 'reddis://user:hunter2@localhost', "re\nd\0is:", str_repeat('x', 100) . ':',
    'shm:../etc', 'shm:a/b', 'shm:' . str_repeat('x', 65), "shm:\xff", 'array:x',
    'shm:?', 'shm:?&&', 'shm:?prefix', 'shm:?prefx=a', 'shm:?Prefix=a', 'shm:?prefix=a&timeout=5', 'array:?=', 'shm:?prefix=' . str_repeat('x', 65),
    'shm:?prefix=' . str_repeat('%20', 64), 'memcached://h' . str_repeat(',h', 100),
    'memcached://me:hunter2@h', 'memcached+unix://me:hunter2@/run/m.sock', 'memcached+unix://:hunter2@/run/m.sock',
] as $dsn) {
    $messages = [];
    foreach ([
        fn () => new TokenBucket($dsn, 'x', 1, 1),
        fn () => str_starts_with($dsn, 'array') ? new ArrayStorage($dsn) : new SharedMemoryStorage($dsn),
    ] as $make) {
        try {
            $make();
            $messages[] = 'fine';
        } catch (ConfigurationException $e) {
            $messages[] = str_replace('; the first argument is the storage, the second the identifier', '', $e->getMessage());
        }
    }
    // The bucket and the storage say the same, without anything that breaks a line of a log, or a password.
    echo implode("\n    ", array_unique($messages)), "\n";
    if (preg_match('/[^ -~]|hunter2/', implode($messages))) {
        echo "not printable\n";
    }
}
?>
--EXPECTF--
The storage DSN must begin with a scheme, known are shm:, array:, redis:, rediss:, redis+unix:, redis+cluster:, rediss+cluster:, redis+sentinel:, rediss+sentinel:, memcached:, memcached+unix:, mysql:, mysql+unix:
The storage DSN must begin with a scheme, known are shm:, %s
Unknown scheme ":" in the storage DSN, known are shm:, %s
Unknown scheme ":" in the storage DSN, known are shm:, %s
Unknown scheme "SHM:" in the storage DSN (write "shm:"), known are shm:, %s
Unknown scheme " shm:" in the storage DSN (write "shm:"), known are shm:, %s
Unknown scheme "reddis:" in the storage DSN, known are shm:, %s
Unknown scheme "re\nd\u{0}is:" in the storage DSN, known are shm:, %s
Unknown scheme "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." in the storage DSN, known are shm:, %s
Shared memory name "../etc" must be 1 to 64 letters, digits, "_" or "-"
Shared memory name "a/b" must be 1 to 64 letters, digits, "_" or "-"
Shared memory name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." must be 1 to 64 letters, digits, "_" or "-"
Shared memory name "\u{fffd}" must be 1 to 64 letters, digits, "_" or "-"
DSN "array:" takes nothing after the colon
fine
fine
fine
Unknown parameter "prefx" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, connect_timeout_ms
Unknown parameter "Prefix" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, connect_timeout_ms
Unknown parameter "timeout" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, connect_timeout_ms
Unknown parameter "" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, connect_timeout_ms
DSN parameter "prefix" must be at most 64 bytes
fine
The storage DSN must name at most 100 servers
The storage DSN must have the form memcached://h1[:port],h2[:port]
The storage DSN must have the form memcached+unix:///path/to/socket
The storage DSN must have the form memcached+unix:///path/to/socket
