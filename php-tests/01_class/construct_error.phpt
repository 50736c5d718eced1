--TEST--
TokenBucket: __construct(): Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';

thrown(
    fn () => new TokenBucket,
    fn () => new TokenBucket([], 'x', 1, 1),
    fn () => new TokenBucket(new stdClass, 'x', 1, 1),
    fn () => new TokenBucket\ArrayStorage([]),
    fn () => new TokenBucket('', 'x', 1, 1),
    fn () => new TokenBucket('reddis://localhost', 'x', 1, 1),
    fn () => new TokenBucket('shm:?prefx=a', 'x', 1, 1),
    fn () => new TokenBucket("shm:\0", 'x', 1, 1),
    fn () => new TokenBucket(null, '', 1, 1),
    fn () => new TokenBucket(null, str_repeat('x', 4097), 1, 1),
    fn () => new TokenBucket(null, [], 1, 1),
    fn () => new TokenBucket(null, 'x', 0, 1),
    fn () => new TokenBucket(null, 'x', -1, 1),
    fn () => new TokenBucket(null, 'x', 2147483648, 1),
    fn () => new TokenBucket(null, 'x', 'many', 1),
    fn () => new TokenBucket(null, 'x', 1, 0),
    fn () => new TokenBucket(null, 'x', 1, -1),
    fn () => new TokenBucket(null, 'x', 1, NAN),
    fn () => new TokenBucket(null, 'x', 1, INF),
    fn () => new TokenBucket(null, 'x', 1, 1.1e9),
    fn () => new TokenBucket(null, 'x', 1, 1e-9),
    fn () => new TokenBucket(null, 'x', 0),
    fn () => new TokenBucket(null, 'x', null, NAN),
    fn () => (new ReflectionClass(TokenBucket::class))->newInstanceWithoutConstructor()->consume(),
);
?>
--EXPECTF--
ArgumentCountError: TokenBucket::__construct() expects at least 2 arguments, 0 given
TypeError: TokenBucket::__construct(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, array given
TypeError: TokenBucket::__construct(): Argument #1 ($storage) must be of type TokenBucketStorage|string|null, stdClass given
TypeError: TokenBucket\ArrayStorage::__construct(): Argument #1 ($dsn) must be of type string, array given
TokenBucket\ConfigurationException: The storage DSN must begin with a scheme, known are shm:, %s
TokenBucket\ConfigurationException: Unknown scheme "reddis:" in the storage DSN, known are shm:, %s
TokenBucket\ConfigurationException: Unknown parameter "prefx" in the storage DSN, known are: prefix, on_error, enforce, lease, timeout_ms, connect_timeout_ms
TokenBucket\ConfigurationException: Shared memory name "\u{0}" must be 1 to 64 letters, digits, "_" or "-"
ValueError: TokenBucket::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
ValueError: TokenBucket::__construct(): Argument #2 ($identifier) must be between 1 and 4096 bytes long
TypeError: TokenBucket::__construct(): Argument #2 ($identifier) must be of type string, array given
ValueError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be between 1 and 2147483647
ValueError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be between 1 and 2147483647
ValueError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be between 1 and 2147483647
TypeError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be of type ?int, string given
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be finite and greater than 0
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be finite and greater than 0
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be finite and greater than 0
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be finite and greater than 0
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be at most 1000000000
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must refill the whole bucket within four years: a capacity of 1 takes 31.7 years at 1e-9 tokens per second; were seconds per token meant?
ValueError: TokenBucket::__construct(): Argument #3 ($bucket_capacity) must be between 1 and 2147483647
ValueError: TokenBucket::__construct(): Argument #4 ($tokens_per_second) must be finite and greater than 0
Error: The object is not initialized: a constructor that overrides must call parent::__construct()
