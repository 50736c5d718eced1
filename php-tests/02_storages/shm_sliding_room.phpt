--TEST--
SharedMemoryStorage: where a full table keeps a settlement from the places of its sliding window, the message says so
--INI--
token_bucket.shm_size=64K
--FILE--
<?php
use TokenBucket\SlidingWindow;
use TokenBucket\StorageException;
require dirname(__DIR__) . '/utils.inc';

run_apart(__FILE__);
// The table has 3,840 slots: five such windows never fit.
$messages = [];
foreach (range(1, 5) as $number) {
    try {
        (new SlidingWindow('shm:sliding-room', "window $number", 1024, 60))->attempt(1)->settle(1024);
    } catch (StorageException $e) {
        $messages[$e->getMessage()] = true;
    }
}
echo implode("\n", array_keys($messages)), "\n";
?>
--EXPECT--
Shared memory: no room for the hits; raise token_bucket.shm_size
