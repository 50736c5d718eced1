<?php

declare(strict_types=1);

// Prints a line for each test file of PHPUnit's log, and the sum. A run without a test is a failure.

$log = simplexml_load_file($argv[1]);
$versions = 'PHP ' . PHP_VERSION;
require __DIR__ . '/../autoload-debian.php';
echo "$versions, Symfony ", Symfony\Component\HttpKernel\Kernel::VERSION, ', token_bucket ', phpversion('token_bucket') ?: 'of EXTENSION', "\n";
$sum = ['passed' => 0, 'failed' => 0, 'skipped' => 0];
foreach ($log->xpath('//testsuite[@file][testcase]') ?: [] as $file) {
    $failed = (int) $file['failures'] + (int) $file['errors'];
    $skipped = (int) $file['skipped'];
    $passed = (int) $file['tests'] - $failed - $skipped;
    printf("%-32s %d passed, %d failed, %d skipped\n", basename((string) $file['file'], '.php'), $passed, $failed, $skipped);
    $sum['passed'] += $passed;
    $sum['failed'] += $failed;
    $sum['skipped'] += $skipped;
}
echo "$sum[passed] passed, $sum[failed] failed, $sum[skipped] skipped\n";
exit($sum['passed'] > 0 && $sum['failed'] === 0 ? 0 : 1);
