--TEST--
Storages: the legacy contract: the closure makes the record, once and before any other caller
--INI--
token_bucket.test_clock=1
--FILE--
<?php
/*
 * Ten tokens, one back each second. bootstrap() is told times of microtime(), which runs on while
 * the clock of the storage is frozen: some microseconds, never as much as a token.
 */
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

foreach ([new TokenBucket\ArrayStorage, new TokenBucket\SharedMemoryStorage('shm:contract')] as $storage) {
    TestClock::freeze(1_000_000);
    $left = fn (string $id) => (new TokenBucket($storage, $id, 10, 1))->peek()->getRemainingTokens();
    // What the classic class passes: the record of a bucket from which $taken tokens went.
    $calls = 0;
    $record = function (string $id, int $taken = 1) use ($storage, &$calls) {
        return function () use ($storage, $id, $taken, &$calls) {
            $calls++;
            $storage->bootstrap($id, microtime(true) - (10 - $taken));
            return true;
        };
    };

    echo times(12, fn () => $storage->consume('one', 1, 10, $record('one'))), ' ', $calls, "\n";
    TestClock::advance(3);
    echo times(5, fn () => $storage->consume('one', 1, 10, $record('one'))), ' ', $calls, "\n";
    // Full again is as good as new: another record is made.
    TestClock::advance(11);
    echo times(1, fn () => $storage->consume('one', 10, 10, $record('one', 10))), ' ', $calls, ' ', $left('one'), "\n";

    // The closure's answer is the answer, and what it does not record is not taken.
    var_dump($storage->consume('no', 1, 10, fn () => false), $storage->consume('no', 1, 10, fn () => true), $left('no'));
    // Someone else was faster: the closure's record is not made, and nothing is left to take.
    var_dump($storage->consume('race', 1, 10, function () use ($storage, $record) {
        (new TokenBucket($storage, 'race', 10, 1))->consume(10);
        return $record('race')();
    }));
    // One within the other.
    var_dump($storage->consume('outer', 1, 10, function () use ($storage, $record) {
        return $storage->consume('inner', 2, 10, $record('inner', 2)) && $record('outer')();
    }), $left('outer'), $left('inner'));
    // A record from the future is that of an empty bucket, one from long ago that of a full one.
    $storage->consume('future', 1, 10, fn () => $storage->bootstrap('future', microtime(true) + 100));
    $storage->consume('past', 1, 10, fn () => $storage->bootstrap('past', 0.0));
    echo $left('future'), ' ', $left('past'), "\n";
    // More than a bucket holds, and nothing.
    var_dump($storage->consume('much', 10.1, 10, null), $storage->consume('much', 0, 10, null), $left('much'));

    // bootstrap() belongs into a closure that is running.
    thrown(
        fn () => $storage->consume('thrown', 1, 10, fn () => throw new DomainException('mine')),
        fn () => $storage->bootstrap('thrown', 0.0),
        fn () => $storage->consume('thrown', 1, 10, fn () => $storage->bootstrap('', 0.0)),
        fn () => $storage->consume('thrown', 1, 10, fn () => $storage->bootstrap('thrown', [])),
        fn () => $storage->bootstrap('thrown', 0.0),
    );
    echo $left('thrown'), "\n";
}
?>
--EXPECTF--
111111111100 1
11100 1
1 2 0
bool(false)
bool(true)
int(10)
bool(false)
bool(true)
int(9)
int(8)
0 10
bool(false)
bool(true)
int(10)
DomainException: mine
LogicException: bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
ValueError: TokenBucket\ArrayStorage::bootstrap(): Argument #1 ($identifier) must be between 1 and 4096 bytes long
TypeError: TokenBucket\ArrayStorage::bootstrap(): Argument #2 ($microtime) must be of type float, array given
LogicException: bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
10
111111111100 1
11100 1
1 2 0
bool(false)
bool(true)
int(10)
bool(false)
bool(true)
int(9)
int(8)
0 10
bool(false)
bool(true)
int(10)
DomainException: mine
LogicException: bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
ValueError: TokenBucket\SharedMemoryStorage::bootstrap(): Argument #1 ($identifier) must be between 1 and 4096 bytes long
TypeError: TokenBucket\SharedMemoryStorage::bootstrap(): Argument #2 ($microtime) must be of type float, array given
LogicException: bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
10
