<?php
/* Prints a line for each test class, and the numbers of passed, failed and skipped tests. Usage: summary.php JUNIT.XML */
declare(strict_types=1);

$results = @simplexml_load_file($argv[1]);
$all = ['passed' => 0, 'failed' => 0, 'skipped' => 0];
foreach ($results ? $results->xpath('//testsuite[testcase]') : [] as $class) {
    $skipped = (int) $class['skipped'];
    $failed = (int) $class['failures'] + (int) $class['errors'];
    $of = ['passed' => (int) $class['tests'] - $failed - $skipped, 'failed' => $failed, 'skipped' => $skipped];
    printf("%s: %d passed, %d failed, %d skipped\n", $class['name'], ...array_values($of));
    foreach ($of as $how => $number) {
        $all[$how] += $number;
    }
}
printf("%d passed, %d failed, %d skipped\n", ...array_values($all));
// A run without a test is a failure.
exit($all['failed'] === 0 && $all['passed'] > 0 ? 0 : 1);
