--TEST--
php-fpm: examples/slow_report.php makes one report at a time for a customer and three in all; the next begins when one ends or its client hangs up
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => ['pm.max_children' => '8']]);
$fpm->script('slow_report.php', file_get_contents(dirname(__DIR__, 2) . '/examples/slow_report.php'));
$fpm->script('active.php', '<?php echo (new TokenBucket\ConcurrencyLimit(null, "reports", 3))->getActive();');

/** @return resource */
function send(string $customer, int $rows)
{
    global $fpm;
    return $fpm->send('www', 'slow_report.php', ['customer' => $customer, 'rows' => (string) $rows]);
}

/** The answer to a report that is asked for: its status, the lines of its body, and Retry-After. */
function report(string $customer, int $rows = 1): string
{
    return show(FastCgi::receive(send($customer, $rows)));
}

function show(Answer $answer): string
{
    $lines = substr_count($answer->body, "\n");
    return "$answer->status, $lines lines" . (isset($answer->headers['retry-after']) ? ", retry after {$answer->headers['retry-after']} s" : '');
}

function wait_for_active(string $count): void
{
    global $fpm;
    $fpm->wait_until(fn (): bool => $fpm->request('www', 'active.php')->body === $count, "$count reports");
}

echo 'a report: ', report('alpha', 3), "\n";
echo 'another customer\'s: ', report('beta', 2), "\n";
echo 'no customer\'s: ', report('<b>'), "\n";

$alpha = send('alpha', 10);
wait_for_active('1');
echo 'a second one at once: ', report('alpha'), '; another customer\'s: ', report('beta'), "\n";
[$beta, $gamma] = [send('beta', 1_000), send('gamma', 1_000)];
wait_for_active('3');
echo 'a fourth in all: ', report('delta'), "\n";
echo 'the first ends: ', show(FastCgi::receive($alpha));
wait_for_active('2');
echo ', then: ', report('delta', 2), "\n";
// They were to take 100 seconds each.
fclose($beta);
fclose($gamma);
wait_for_active('0');
echo 'clients hang up, then: ', report('beta'), ' and ', report('gamma'), "\n";

// Forty at once of ten customers.
$requests = array_map(fn (int $i) => send('customer' . $i % 10, 2), range(1, 40));
$statuses = array_count_values(array_map(fn ($request): int => FastCgi::receive($request)->status, $requests));
ksort($statuses);
echo 'forty at once: ', array_sum($statuses), ' answers, ', ($statuses[200] ?? 0) >= 3 ? 'some reports' : 'no reports', ', ', array_diff(array_keys($statuses), [200, 429, 503]) ? json_encode($statuses) : 'all others refused', "\n";
wait_for_active('0');
?>
--EXPECT--
a report: 200, 4 lines
another customer's: 200, 3 lines
no customer's: 400, 1 lines
a second one at once: 429, 1 lines, retry after 5 s; another customer's: 200, 2 lines
a fourth in all: 503, 1 lines, retry after 15 s
the first ends: 200, 11 lines, then: 200, 3 lines
clients hang up, then: 200, 2 lines and 200, 2 lines
forty at once: 40 answers, some reports, all others refused
