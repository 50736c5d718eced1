<?php
/*
 * Compares the ratios of two runs of `make bench`, and lists those that differ by more than 15 %.
 * Usage: php benches/php/compare.php BEFORE.md AFTER.md    two files of tables: docs/benchmarks/tables.md
 */

const ALLOWED = 0.15;

/** @return array<string, float> by heading, the row's words and the column */
function ratios(string $file): array
{
    $found = $times = [];
    $heading = '';
    foreach (file($file, FILE_IGNORE_NEW_LINES) ?: exit(2) as $line) {
        $heading = str_starts_with($line, '## ') ? substr($line, 3) : $heading;
        $cells = array_map(trim(...), explode('|', trim($line, '| ')));
        $row = "$heading: " . implode(', ', preg_grep('/^[^\d]/', $cells));
        foreach ($cells as $column => $cell) {
            if (preg_match('/^([\d,.]+) x\b(.*)/', $cell, $ratio)) {
                $name = trim("$row$ratio[2]");
                $times["$name|$column"] = ($times["$name|$column"] ?? 0) + 1;
                $found["$name, column $column, {$times["$name|$column"]}"] = (float) str_replace(',', '', $ratio[1]);
            }
        }
    }
    return $found;
}

[, $before, $after] = $argv + [1 => '', 2 => ''];
is_file($before) && is_file($after) || exit("Usage: php benches/php/compare.php BEFORE.md AFTER.md\n");
[$before, $after] = [ratios($before), ratios($after)];
$both = array_intersect_key($before, $after);
$differ = array_filter($both, fn (float $ratio, string $name): bool => abs($after[$name] / $ratio - 1) > ALLOWED, ARRAY_FILTER_USE_BOTH);
foreach ($differ as $name => $ratio) {
    echo "$name: $ratio, then $after[$name]\n";
}
echo count($both) - count($differ), ' of ', count($both), ' ratios agree within ', 100 * ALLOWED, " %\n";
exit((int) ($differ !== []));
