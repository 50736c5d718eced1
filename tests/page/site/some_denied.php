<?php
// Four of ten calls are denied: no limit denies most of its calls.
declare(strict_types=1);
for ($call = 0; $call < 100; $call++) {
    TokenBucket::per(null, 'search:192.0.2.1', 60, 86_400)->consume();
}
require __DIR__ . '/view.php';
