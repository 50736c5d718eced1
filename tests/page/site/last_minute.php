<?php
// 30 calls, of which 20 are denied, as the page shows them a minute later: the clock of statistics is the host's, which no test can stop.
declare(strict_types=1);
for ($call = 0; $call < 30; $call++) {
    TokenBucket::per(null, 'login:192.0.2.1', 10, 86_400)->consume();
}
ob_start();
require __DIR__ . '/view.php';
ob_end_clean();
$status = TokenBucket\status();
// The host may have begun a minute meanwhile.
$status['last_hour']['login'] = array_map(fn(array $minutes): array => [...array_fill(0, 58, 0), array_sum($minutes), 0], $status['last_hour']['login']);
echo TokenBucket\StatusPage\limits_section($status);
