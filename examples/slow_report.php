<?php
/*
 * A slow report: one at a time for each customer, and three at a time in all, so that reports never take all workers.
 *
 *     php -S 127.0.0.1:8080 examples/slow_report.php      (PHP_CLI_SERVER_WORKERS=8 for several at once)
 *     curl -i 'http://127.0.0.1:8080/?customer=alpha&rows=20'
 *
 * The permits go back at the end of the request, however it ends: the client hangs up, a fatal error, a time-out, a worker
 * that is killed (on Redis when their lifetime ends).
 */
declare(strict_types=1);

use TokenBucket\ConcurrencyLimit;

/** Seconds, longer than a row takes: each row renews the permits. */
const LIFETIME = 30.0;

function send_refusal(int $status, int $retry_after, string $reason): never
{
    http_response_code($status);
    header("Retry-After: $retry_after");
    exit("$reason\n");
}

// An application takes the customer from its session.
$customer = $_GET['customer'] ?? '';
if (!is_string($customer) || !preg_match('/^\w{1,32}$/D', $customer)) {
    http_response_code(400);
    exit("Which customer?\n");
}

// The customer's own limit first: a customer's second request takes no place from other customers.
$own = (new ConcurrencyLimit(null, "report:$customer", 1, LIFETIME, 'report'))->acquire();
if ($own === null) {
    send_refusal(429, 5, 'Your last report is not finished yet.');
}
$shared = (new ConcurrencyLimit(null, 'reports', 3, LIFETIME))->acquire();
if ($shared === null) {
    // Not the customer's fault. The permit of their own goes back here.
    send_refusal(503, 15, 'Many reports are being made. Please come back in a moment.');
}

header('Content-Type: text/csv');
echo "row,value\n";
for ($row = 1; $row <= min((int) ($_GET['rows'] ?? 10), 1_000); $row++) {
    // An application asks its database here.
    usleep(100_000);
    echo "$row,", $row ** 2, "\n";
    // The client sees each row at once; if it has hung up, the script ends here.
    flush();
    // After a pause longer than the lifetime another report may run in this one's place.
    if (!$own->renew() || !$shared->renew()) {
        exit("The report took too long.\n");
    }
}
