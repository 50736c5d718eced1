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
// The table has 3,840 slots, of which this takes 3,221.
foreach ([100, 480, 481, 500, 700, 960] as $hits) {
    (new SlidingWindow('shm:sliding-room', "window of $hits", $hits, 60))->attempt(1)->settle($hits);
}
try {
    (new SlidingWindow('shm:sliding-room', 'window of 1024', 1024, 60))->attempt(1)->settle(1024);
} catch (StorageException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
Shared memory: no room for the hits; raise token_bucket.shm_size
