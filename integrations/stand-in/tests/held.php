<?php

/*
 * A lock that another process holds and does not give back: each call is denied within seconds, one that must be done is an exception,
 * and all goes on once the lock is free. The log says why.
 * Usage: held.php
 */

declare(strict_types=1);

use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow, SharedMemoryStorage};

$bucket = TokenBucket::per(null, 'held', 5, 1e8);
$permits = new ConcurrencyLimit(null, 'held', 1);
$storage = new SharedMemoryStorage();
$results = [$bucket->consume(), $permits->getActive()];
$storage->prepare();
$locks = [];
foreach (glob(get_cfg_var('token_bucket.shm_path') . '/token_bucket.*.stand-in/default/*.lock') as $path) {
    // As the lock of another process: PHP's flock() is one of the file that was opened.
    $locks[] = $lock = fopen($path, 'r+');
    flock($lock, LOCK_EX);
}
$begun = hrtime(true);
$results[] = $bucket->consume();
$results[] = (new Compound(new FixedWindow('array:', 'held', 5, 60), $bucket))->consume();
$results[] = $permits->acquire();
foreach ([static fn() => $bucket->block(60), $bucket->reset(...), $permits->reset(...), $storage->prepare(...)] as $call) {
    try {
        $call();
    } catch (TokenBucket\StorageException $e) {
        $results[] = preg_match('/^Shared memory cannot be written: another process has held .*\.lock for a second$/', $e->getMessage());
    }
}
// A call waits a second. A machine under load may need longer, but not for ever.
$results[] = hrtime(true) - $begun < 60_000_000_000;
array_map(fclose(...), $locks);
$results[] = $bucket->consume(4);
$results[] = $bucket->consume();

echo json_encode($results), "\n";
exit($results === [true, 0, false, false, null, 1, 1, 1, 1, true, true, false] ? 0 : 1);
