<?php
// One limit that denies most of its calls, one that denies as many of few, and a dry run.
declare(strict_types=1);
foreach (['login' => 60, 'few' => 59] as $name => $calls) {
    for ($call = 0; $call < $calls; $call++) {
        TokenBucket::per(null, "$name:192.0.2.1", 29, 300)->consume();
    }
}
ini_set('token_bucket.enforce', '0');
for ($call = 0; $call < 100; $call++) {
    TokenBucket::per(null, 'trial:192.0.2.1', 1, 300)->consume();
}
require __DIR__ . '/view.php';
