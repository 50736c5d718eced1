<?php
/* Many clients are blocked, and go on so often. Usage: many.php FIRST LAST CALLS; prints them as token-bucket blocked does. */
[, $first, $last, $calls] = $argv;
for ($number = $first; $number <= $last; $number++) {
    $client = long2ip(ip2long('45.0.0.0') + $number);
    $limit = TokenBucket\limiter('search', $client);
    $limit->block(3600);
    for ($call = 0; $call < $calls; $call++) {
        $limit->consume();
    }
    echo "$client 10\n";
}
