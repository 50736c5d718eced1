<?php
/**
 * Fails on a test, or another file of the project, that a page names and that is not there: `php-tests/01_class/per.phpt`, `lease_bound.phpt`
 * (in any folder), `src/limit/gcra/tests.rs::a_function`, `GuessingTest::testIt` or `::testIt` (of integrations). NAME and x are placeholders, and DSNs no files.
 * Usage: php named_tests.php PAGE...
 */

const FOLDERS = 'benches|bin|docs|examples|fuzz|integrations|packaging|php-tests|scripts|share|src|stubs|tests';

/** @return list<string> the paths of a folder's files whose names match */
function files(string $folder, string $pattern): array
{
    $all = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS));
    return preg_grep($pattern, array_map(strval(...), iterator_to_array($all, false)));
}

$phpt = array_fill_keys(array_map(basename(...), files('php-tests', '~\.phpt$~')), true);
preg_match_all('~function (test\w+)\(~', implode(array_map(file_get_contents(...), files('integrations', '~Test\.php$~'))), $methods);
$methods = array_fill_keys($methods[1], true);
$faults = 0;
foreach (array_slice($argv, 1) as $page) {
    $text = preg_replace('/^(```|~~~).*?^\1/ms', '', file_get_contents($page));
    preg_match_all('/`([^`\n]+)`/', $text, $names);
    foreach (array_unique($names[1]) as $name) {
        [$file, $function] = explode('::', $name, 2) + [1 => null];
        if (preg_match('~NAME|^x(_\w+)?\.|^[\w+]+:~', $file)) {
            continue;
        }
        $path = file_exists($file) ? $file : dirname($page) . "/$file";
        $is_there = match (true) {
            preg_match('~^(' . FOLDERS . ')/[\w./-]+\.\w+$~', $file) === 1 => file_exists($path)
                && ($function === null || str_contains(file_get_contents($path), "fn $function(")),
            preg_match('~^\w+\.phpt$~', $file) === 1 => isset($phpt[$file]),
            preg_match('~^(\w*Test)?$~', $file) === 1 && str_starts_with((string) $function, 'test') => isset($methods[$function]),
            default => true,
        };
        if (!$is_there) {
            echo "$page names $name, which is not there\n";
            $faults++;
        }
    }
}
exit($faults ? 1 : 0);
