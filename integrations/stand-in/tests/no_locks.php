<?php

/*
 * On a file system without locks: an exception says so, and not what PHP has said of the call before.
 * Usage: no_locks.php
 */

declare(strict_types=1);

namespace TokenBucket\StandIn {
    /** Fails as PHP's own does there: without a warning. */
    function flock(mixed $file, int $operation, ?int &$wouldBlock = null): bool
    {
        $wouldBlock = 0;
        return false;
    }
}

namespace {
    // The second call finds the folder.
    foreach ([1, 2] as $time) {
        try {
            TokenBucket::per(null, 'x', 5, 60)->consume();
            $answer = 'no exception';
        } catch (TokenBucket\StorageException $e) {
            $answer = $e->getMessage();
        }
        echo $answer, "\n";
        preg_match('/^Cannot lock shared memory .*\.lock: flock\(\) fails; token_bucket\.shm_path must be on a file system with locks$/', $answer) || exit(1);
    }
}
