--TEST--
SharedMemoryStorage and ArrayStorage: bootstrap() starts the bucket of the consume() whose closure calls it, also while another fiber is in consume()
--FILE--
<?php
use TokenBucket\{ArrayStorage, SharedMemoryStorage};

foreach ([new SharedMemoryStorage('shm:'), new ArrayStorage] as $storage) {
    $consume = fn (string $id, float $full, float $empty_at) => $storage->consume($id, 2.0, $full, function () use ($storage, $id, $empty_at) {
        Fiber::suspend();
        $storage->bootstrap($id, $empty_at);
        return false;
    });
    $fiber = fn (string $id, float $full) => new Fiber(fn () => $consume($id . getmypid(), $full, microtime(true)));
    [$long, $short] = [$fiber('long', 5_000.0), $fiber('short', 50.0)];
    $long->start();
    $short->start();
    // Neither is the call's: no closure of it runs.
    try {
        $storage->bootstrap('other', 0.0);
    } catch (LogicException $e) {
        echo $e->getMessage(), "\n";
    }
    $long->resume();
    $short->resume();
    foreach (['long' => 5_000.0, 'short' => 50.0] as $id => $full) {
        // Each is empty: a tenth of it is not there.
        var_dump($storage->consume($id . getmypid(), $full / 10, $full, null));
    }
}
?>
--EXPECT--
bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
bool(false)
bool(false)
bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full
bool(false)
bool(false)
