<?php
/**
 * Fails if README's numbers of speed are not those of docs/benchmarks.md.
 * Usage: php speed.php [--write]    --write puts them into README
 */

require dirname(__DIR__, 2) . '/benches/php/report/readme.php';

$readme = file_get_contents('README.md');
$right = with_sentence($readme, readme_sentence(file_get_contents('docs/benchmarks.md'), file_get_contents('docs/benchmarks/tables.md')));
if (in_array('--write', $argv, true)) {
    file_put_contents('README.md', $right);
} elseif ($readme !== $right) {
    echo "README's numbers of speed are not those of docs/benchmarks.md: php scripts/lint/speed.php --write corrects them\n";
    exit(1);
}
