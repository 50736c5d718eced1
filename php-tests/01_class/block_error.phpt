--TEST--
block(): Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';
use TokenBucket\{Compound, FixedWindow, LeakyBucket};

$limiters = [TokenBucket::per('array:', 'x', 5, 60), new LeakyBucket('array:', 'y', 5, 60), new FixedWindow('array:', 'x', 5, 60)];
$limiters[] = new Compound(...$limiters);
foreach ($limiters as $limiter) {
    thrown(
        fn () => $limiter->block(),
        fn () => $limiter->block(1, 2),
        fn () => $limiter->block(0),
        fn () => $limiter->block(-0.0),
        fn () => $limiter->block(-1),
        fn () => $limiter->block(1e-10),
        fn () => $limiter->block(4 * 31_557_600 + 1),
        fn () => $limiter->block(INF),
        fn () => $limiter->block(-INF),
        fn () => $limiter->block(NAN),
        fn () => $limiter->block('long'),
        fn () => $limiter->block([]),
        // None of these blocked.
        fn () => $limiter->consume(),
    );
}
thrown(
    fn () => (new TokenBucket(new MemoryStorage, 'x', 5, 1))->block(60),
    fn () => (new TokenBucket(new MemoryStorage, 'x'))->block(60),
    fn () => (new TokenBucket(new MemoryStorage, 'x'))->reset(),
    fn () => (new LeakyBucket(new MemoryStorage, 'x', 5, 60))->block(60),
    fn () => (new TokenBucket('array:', 'z', 5))->block('60'),
    fn () => (new TokenBucket('array:', 'z', 5, 1))->consume(),
    fn () => (new TokenBucket('array:', 'z', tokens_per_second: 5))->reset(),
    fn () => (new TokenBucket('array:', 'z', 5, 1))->consume(),
    fn () => (new ReflectionClass(TokenBucket::class))->newInstanceWithoutConstructor()->block(60),
    fn () => (new ReflectionClass(TokenBucket::class))->newInstanceWithoutConstructor()->reset(),
);
?>
--EXPECT--
ArgumentCountError: TokenBucket::block() expects exactly 1 argument, 0 given
ArgumentCountError: TokenBucket::block() expects exactly 1 argument, 2 given
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
TypeError: TokenBucket::block(): Argument #1 ($seconds) must be of type float, string given
TypeError: TokenBucket::block(): Argument #1 ($seconds) must be of type float, array given
bool(true)
ArgumentCountError: TokenBucket\LeakyBucket::block() expects exactly 1 argument, 0 given
ArgumentCountError: TokenBucket\LeakyBucket::block() expects exactly 1 argument, 2 given
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
TypeError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be of type float, string given
TypeError: TokenBucket\LeakyBucket::block(): Argument #1 ($seconds) must be of type float, array given
bool(true)
ArgumentCountError: TokenBucket\FixedWindow::block() expects exactly 1 argument, 0 given
ArgumentCountError: TokenBucket\FixedWindow::block() expects exactly 1 argument, 2 given
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
TypeError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be of type float, string given
TypeError: TokenBucket\FixedWindow::block(): Argument #1 ($seconds) must be of type float, array given
bool(true)
ArgumentCountError: TokenBucket\Compound::block() expects exactly 1 argument, 0 given
ArgumentCountError: TokenBucket\Compound::block() expects exactly 1 argument, 2 given
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
ValueError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be greater than 0 and at most four years, in seconds
TypeError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be of type float, string given
TypeError: TokenBucket\Compound::block(): Argument #1 ($seconds) must be of type float, array given
bool(true)
LogicException: block() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: block() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: reset() is not available on a storage written in PHP: TokenBucketStorage has consume() only
LogicException: block() is not available on a storage written in PHP: TokenBucketStorage has consume() only
NULL
bool(false)
NULL
bool(true)
Error: The object is not initialized: a constructor that overrides must call parent::__construct()
Error: The object is not initialized: a constructor that overrides must call parent::__construct()
