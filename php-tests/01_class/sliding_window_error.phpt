--TEST--
SlidingWindow: Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{Compound, SlidingWindow};

$window = new SlidingWindow('array:', 'x', 5, 60);
$window->consume(2);
thrown(
    fn () => new SlidingWindow(null, 'x', 5),
    fn () => new SlidingWindow(null, 'x', 5, 60, 'name', 1),
    fn () => new SlidingWindow(null, 'x', 5, 60, []),
    fn () => new SlidingWindow([], 'x', 5, 60),
    fn () => new SlidingWindow('reddis:', 'x', 5, 60),
    fn () => new SlidingWindow(null, [], 5, 60),
    fn () => new SlidingWindow(null, '', 5, 60),
    fn () => new SlidingWindow(null, str_repeat('x', 4_097), 5, 60),
    fn () => new SlidingWindow(null, 'x', 0, 60),
    fn () => new SlidingWindow(null, 'x', -1, 60),
    fn () => new SlidingWindow(null, 'x', 1_025, 60),
    fn () => new SlidingWindow(null, 'x', PHP_INT_MAX, 60),
    fn () => new SlidingWindow(null, 'x', PHP_INT_MIN, 60),
    fn () => new SlidingWindow(null, 'x', 'many', 60),
    fn () => new SlidingWindow(null, 'x', 5, 'long'),
    fn () => new SlidingWindow(null, 'x', 5, 0),
    fn () => new SlidingWindow(null, 'x', 5, -1),
    fn () => new SlidingWindow(null, 'x', 5, NAN),
    fn () => new SlidingWindow(null, 'x', 5, INF),
    fn () => new SlidingWindow(null, 'x', 5, -INF),
    fn () => new SlidingWindow(null, 'x', 5, 126_230_401),
    fn () => new SlidingWindow(null, 'x', 5, 4e-10),
    fn () => new SlidingWindow(limit: 5, interval: 60),
    fn () => new SlidingWindow(new MemoryStorage, 'x', 5, 60),
    fn () => $window->consume(-1),
    fn () => $window->attempt(PHP_INT_MIN),
    fn () => $window->peek('many'),
    fn () => $window->refund(-1),
    fn () => $window->reset(1),
    fn () => $window->block(0),
    fn () => $window->block(NAN),
    fn () => $window->block(INF),
    fn () => $window->block(126_230_401),
    fn () => $window->consume(PHP_INT_MAX),
    fn () => $window->attempt(PHP_INT_MAX)->getRetryAfter(),
    fn () => new Compound($window, new SlidingWindow('array:', 'x', 6, 60)),
    fn () => clone $window,
    fn () => serialize($window),
    fn () => unserialize('O:25:"TokenBucket\SlidingWindow":0:{}'),
    // A constructor that fails leaves the object as it was.
    fn () => $window->__construct('array:', 'y', 0, 60),
    fn () => $window->peek()->getRemainingTokens(),
);
?>
--EXPECTF--
ArgumentCountError: TokenBucket\SlidingWindow::__construct() expects at least 4 arguments, 3 given
ArgumentCountError: TokenBucket\SlidingWindow::__construct() expects at most 5 arguments, 6 given
TypeError: TokenBucket\SlidingWindow::__construct(): Argument #5 ($name) must be of type ?string, array given
TypeError: TokenBucket\SlidingWindow::__construct(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, array given
TokenBucket\ConfigurationException: Unknown scheme "reddis:" in the storage DSN, known are shm:, %s
TypeError: TokenBucket\SlidingWindow::__construct(): Argument #2 ($identifier) must be of type string, array given
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #3 ($limit) must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #3 ($limit) must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #3 ($limit) must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #3 ($limit) must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #3 ($limit) must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more
TypeError: TokenBucket\SlidingWindow::__construct(): Argument #3 ($limit) must be of type int, string given
TypeError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be of type float, string given
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #4 ($interval) must be greater than 0 and at most four years, in seconds
ArgumentCountError: TokenBucket\SlidingWindow::__construct(): Argument #1 ($storage) not passed
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #1 ($storage) must not be a storage written in PHP: TokenBucketStorage supports token buckets only
ValueError: TokenBucket\SlidingWindow::consume(): Argument #1 ($token_count) must be greater than or equal to 0
ValueError: TokenBucket\SlidingWindow::attempt(): Argument #1 ($tokens) must be greater than or equal to 0
TypeError: TokenBucket\SlidingWindow::peek(): Argument #1 ($tokens) must be of type int, string given
ValueError: TokenBucket\SlidingWindow::refund(): Argument #1 ($tokens) must be greater than or equal to 0
ArgumentCountError: TokenBucket\SlidingWindow::reset() expects exactly 0 arguments, 1 given
ValueError: TokenBucket\SlidingWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\SlidingWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
bool(false)
float(INF)
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
Error: Trying to clone an uncloneable object of class TokenBucket\SlidingWindow
Exception: Serialization of 'TokenBucket\SlidingWindow' is not allowed
Exception: Unserialization of 'TokenBucket\SlidingWindow' is not allowed
ValueError: TokenBucket\SlidingWindow::__construct(): Argument #3 ($limit) must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more
int(3)
