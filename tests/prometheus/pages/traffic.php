<?php
// Makes calls on buckets or sliding windows, as an application does, and answers how many were denied and which worker made them.
declare(strict_types=1);

// An outage warns; the page's answer is JSON.
ini_set('display_errors', '0');
$get = $_GET + ['dsn' => null, 'name' => null, 'limit' => '10', 'clients' => '1', 'calls' => '1', 'window' => ''];
$denied = 0;
for ($client = 0; $client < (int) $get['clients']; $client++) {
    $arguments = [$get['dsn'], "client:$client", (int) $get['limit'], (float) TokenBucket::DAY, $get['name']];
    $limiter = $get['window'] ? new TokenBucket\SlidingWindow(...$arguments) : TokenBucket::per(...$arguments);
    for ($call = 0; $call < (int) $get['calls']; $call++) {
        $denied += (int) !$limiter->consume();
    }
}
echo json_encode(['denied' => $denied, 'worker' => getmypid()]);
