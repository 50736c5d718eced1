<?php
/*
 * Prints of PHPUnit's JUnit log a line for each test class, one beginning "Not run:" for those of its tests that were skipped, and
 * the numbers of all. Exits with 1 if a test failed, or none passed.
 * Usage: phpunit_summary.php PACKAGE JUNIT.XML
 */
declare(strict_types=1);

// PHPUnit leaves an empty log if it dies.
$log = is_file($argv[2]) && filesize($argv[2]) > 0 ? simplexml_load_file($argv[2]) : false;
$classes = [];
foreach ($log === false ? [] : $log->xpath('//testcase') as $test) {
    $result = isset($test->failure) || isset($test->error) ? 'failed' : (isset($test->skipped) ? 'skipped' : 'passed');
    $class = basename(strtr((string) $test['class'], '\\', '/'));
    $classes[$class] ??= ['passed' => [], 'failed' => [], 'skipped' => []];
    $classes[$class][$result][] = (string) $test['name'];
}
$counts = static fn (array $tests): string => implode(', ', array_map(static fn (string $result): string => count($tests[$result]) . " $result", array_keys($tests)));
foreach ($classes as $class => $tests) {
    echo "$class: {$counts($tests)}\n";
    if ($tests['skipped'] !== []) {
        echo "Not run: $argv[1] $class: ", implode(', ', $tests['skipped']), "\n";
    }
}
$all = array_map(static fn (string $result): array => array_merge(...array_column($classes, $result)), ['passed' => 'passed', 'failed' => 'failed', 'skipped' => 'skipped']);
echo $counts($all), "\n";
exit($all['failed'] !== [] || $all['passed'] === [] ? 1 : 0);
