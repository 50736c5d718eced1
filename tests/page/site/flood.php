<?php
// Fills the smallest table with clients that are limited for long.
declare(strict_types=1);
for ($client = 0; $client < 10_000; $client++) {
    (new TokenBucket(null, "flood:$client", 1, 0.0001))->consume();
}
require __DIR__ . '/view.php';
