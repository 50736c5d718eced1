--TEST--
LeakyBucket, FixedWindow: Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{FixedWindow, LeakyBucket};

foreach ([LeakyBucket::class, FixedWindow::class] as $class) {
    thrown(
        fn () => new $class(null, 'x', 5),
        fn () => new $class(null, 'x', 5, 60, 'name', 1),
        fn () => new $class(null, 'x', 5, 60, []),
        fn () => new $class([], 'x', 5, 60),
        fn () => new $class('reddis:', 'x', 5, 60),
        fn () => new $class(null, '', 5, 60),
        fn () => new $class(null, 'x', 0, 60),
        fn () => new $class(null, 'x', 2147483648, 60),
        fn () => new $class(null, 'x', 'many', 60),
        fn () => new $class(null, 'x', 5, 0),
        fn () => new $class(null, 'x', 5, -1),
        fn () => new $class(null, 'x', 5, NAN),
        fn () => new $class(null, 'x', 5, INF),
        fn () => new $class(null, 'x', 5, 2e8),
        fn () => new $class(null, 'x', 5, 1e-10),
        fn () => (new $class(null, 'x', 5, 60))->consume(-1),
        fn () => (new $class(null, 'x', 5, 60))->reset(1),
        fn () => clone new $class(null, 'x', 5, 60),
        fn () => serialize(new $class(null, 'x', 5, 60)),
        fn () => (new $class(new MemoryStorage, 'x', 5, 60))->peek(),
    );
}
?>
--EXPECTF--
ArgumentCountError: TokenBucket\LeakyBucket::__construct() expects at least 4 arguments, 3 given
ArgumentCountError: TokenBucket\LeakyBucket::__construct() expects at most 5 arguments, 6 given
TypeError: TokenBucket\LeakyBucket::__construct(): Argument #5 ($name) must be of type ?string, array given
TypeError: TokenBucket\LeakyBucket::__construct(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, array given
TokenBucket\ConfigurationException: Unknown scheme "reddis:" in the storage DSN, known are shm:, %s
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #3 ($limit) must be between 1 and 2147483647
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #3 ($limit) must be between 1 and 2147483647
TypeError: TokenBucket\LeakyBucket::__construct(): Argument #3 ($limit) must be of type int, string given
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::__construct(): Argument #4 ($interval) must be at least one nanosecond for each unit of $limit
ValueError: TokenBucket\LeakyBucket::consume(): Argument #1 ($token_count) must be greater than or equal to 0
ArgumentCountError: TokenBucket\LeakyBucket::reset() expects exactly 0 arguments, 1 given
Error: Trying to clone an uncloneable object of class TokenBucket\LeakyBucket
Exception: Serialization of 'TokenBucket\LeakyBucket' is not allowed
LogicException: peek() is not available on a storage written in PHP: TokenBucketStorage has consume() only
ArgumentCountError: TokenBucket\FixedWindow::__construct() expects at least 4 arguments, 3 given
ArgumentCountError: TokenBucket\FixedWindow::__construct() expects at most 5 arguments, 6 given
TypeError: TokenBucket\FixedWindow::__construct(): Argument #5 ($name) must be of type ?string, array given
TypeError: TokenBucket\FixedWindow::__construct(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, array given
TokenBucket\ConfigurationException: Unknown scheme "reddis:" in the storage DSN, known are shm:, %s
ValueError: TokenBucket\FixedWindow::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\FixedWindow::__construct(): Argument #3 ($limit) must be between 1 and 16777214
ValueError: TokenBucket\FixedWindow::__construct(): Argument #3 ($limit) must be between 1 and 16777214
TypeError: TokenBucket\FixedWindow::__construct(): Argument #3 ($limit) must be of type int, string given
ValueError: TokenBucket\FixedWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::consume(): Argument #1 ($token_count) must be greater than or equal to 0
ArgumentCountError: TokenBucket\FixedWindow::reset() expects exactly 0 arguments, 1 given
Error: Trying to clone an uncloneable object of class TokenBucket\FixedWindow
Exception: Serialization of 'TokenBucket\FixedWindow' is not allowed
ValueError: TokenBucket\FixedWindow::__construct(): Argument #1 ($storage) must not be a storage written in PHP: TokenBucketStorage supports token buckets only
