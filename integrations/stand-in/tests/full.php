<?php

/*
 * On a file system that is full: calls that would take something are denied, a block that cannot be kept is an exception, and what was
 * written before is as it was. Once there is room, all goes on.
 * Usage: full.php, with token_bucket.shm_path on a small file system
 */

declare(strict_types=1);

$folder = get_cfg_var('token_bucket.shm_path');
$bucket = TokenBucket::per(null, 'before', 5, 1e8);
$results = [$bucket->consume()];
$file = fopen("$folder/filler", 'w');
while (@fwrite($file, str_repeat('x', 4_096)) === 4_096) {
}
$results[] = $bucket->consume();
$results[] = TokenBucket::per(null, 'new', 5, 1e8)->consume();
$results[] = $bucket->peek(0)->getRemainingTokens();
$results[] = (new TokenBucket\ConcurrencyLimit(null, 'permits', 5))->acquire();
$results[] = $bucket->refund();
try {
    $bucket->block(60);
} catch (TokenBucket\StorageException $e) {
    $results[] = (bool) preg_match('/^Shared memory cannot be written/', $e->getMessage());
}
fclose($file);
unlink("$folder/filler");
$results[] = $bucket->consume();
$results[] = $bucket->peek(0)->getRemainingTokens();
echo json_encode($results), "\n";
exit($results === [true, false, false, 4, null, false, true, true, 3] ? 0 : 1);
