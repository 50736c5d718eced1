<?php

declare(strict_types=1);

// Prints a line for each test class of a JUnit log, and the numbers of all. Usage: summary.php JUNIT.XML
// Exits with 1 if a test failed, or none ran.

// PHPUnit leaves an empty log if it dies.
$log = is_file($argv[1]) && filesize($argv[1]) > 0 ? simplexml_load_file($argv[1]) : false;
$classes = [];
$all = ['passed' => 0, 'failed' => 0, 'skipped' => 0];
foreach ($log === false ? [] : $log->xpath('//testcase') as $test) {
    $result = isset($test->failure) || isset($test->error) ? 'failed' : (isset($test->skipped) ? 'skipped' : 'passed');
    $class = basename(strtr((string) $test['class'], '\\', '/'));
    $classes[$class] ??= ['passed' => 0, 'failed' => 0, 'skipped' => 0];
    $classes[$class][$result]++;
    $all[$result]++;
}
$line = static fn (array $n): string => "{$n['passed']} passed, {$n['failed']} failed, {$n['skipped']} skipped";
foreach ($classes as $class => $numbers) {
    echo "$class: {$line($numbers)}\n";
}
echo $line($all), "\n";
exit($all['failed'] > 0 || $all['passed'] === 0 ? 1 : 0);
