<?php
/*
 * The section on calls beside an empty method, a counter and a bare round trip.
 */

function calls(): Section
{
    $section = new Section('Beside the least that can be done');
    $data = kept('calls');
    $section->tables = "Calls of one process, {$data['rounds']} rounds, beside an empty method, a counter, a bare round trip.\n" . calls_tables() . "\nWhat MariaDB and MySQL counted of their own in 1,000 decisions:\n\n";
    foreach ($data['statements'] as $what => $counts) {
        $section->tables .= "- $what: " . implode(', ', array_map(fn ($command, $count) => number_format($count) . " $command", array_keys($counts), $counts)) . "\n";
    }
    return $section;
}

/** The tables, in Markdown. */
function calls_tables(): string
{
    $text = '';
    foreach (kept('calls')['tables'] as ['head' => $head, 'rows' => $rows]) {
        $number = fn (float $n) => number_format($n, $n < 1 ? 2 : 1);
        $lines = array_map(fn ($row) => [
            $row['what'],
            $row['what'] === '' ? '' : $number($row['min']),
            $row['what'] === '' ? '' : $number($row['median']),
            $row['ratio'] === null ? '' : sprintf($row['ratio'] < 0.1 ? '%.4f' : '%.2f', $row['ratio']) . " x {$row['than']}",
        ], $rows);
        $text .= "\n" . table([$head, 'min', 'median', 'ratio'], $lines, 'lrrl');
    }
    return $text;
}

/** The median of a row of the tables, in its unit. */
function calls_median(string $what): float
{
    foreach (kept('calls')['tables'] as ['rows' => $rows]) {
        foreach ($rows as $row) {
            if ($row['what'] === $what) {
                return $row['median'];
            }
        }
    }
    throw new RuntimeException("calls has no row $what");
}
