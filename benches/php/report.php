<?php
/*
 * Writes benchmarks.md and its plots from the subjects' data, and prints a summary. Fails if token_bucket was not
 * exact; its speed depends on the machine.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/report/section.php';
require __DIR__ . '/report/markdown.php';
require __DIR__ . '/report/plots.php';
foreach (['environment', 'summary', 'latency', 'throughput', 'server_cpu', 'open_loop', 'outage', 'over_admission', 'page', 'stand_in', 'calls'] as $file) {
    require __DIR__ . "/report/$file.php";
}

$lacking = array_filter(SUBJECTS, fn (string $subject): bool => !is_file(data_folder() . "/$subject.json"));
if ($lacking) {
    exit('No page is written: not measured were ' . implode(', ', $lacking) . "\n");
}
$folder = getenv('BENCH_PAGE');
// Plots of an older run.
array_map(unlink(...), glob("$folder/benchmarks/*.svg"));
$sections = [latency(), open_loop(), throughput(), server_cpu(), outage(), over_admission(), page(), stand_in(), calls()];
$goals = array_merge(...array_map(fn ($section) => $section->goals, $sections));
$losses = array_merge(...array_map(fn ($section) => $section->losses, $sections));

$text = "# Benchmarks\n\nFor developers and operators: what token_bucket costs, beside the limiters that PHP has.\n\n"
    . "## Where token_bucket loses\n\n"
    . ($losses ? 'Every rival that was faster, even if by noise; the greatest difference for each measure and store. 0.76 x: it needs 76 % of token_bucket\'s time ([all ' . count($losses) . "](benchmarks/tables.md#where-token_bucket-loses)):\n\n" . preg_replace('/ \(\d+ of \d+ rounds\)/', '', loss_table(greatest_losses($losses))) : "Nowhere in this run.\n") . "\n"
    . summary() . introduction()
    . "- **Goals**: [which are met](benchmarks/tables.md#goals).\n\n";
$tables = "# All tables of the benchmarks\n\nWritten by `make bench`. [benchmarks.md](../benchmarks.md) says what was measured, and on which machine.\n"
    . "\n## Where token_bucket loses\n\nEverything that beat token_bucket on the same store in this run, by noise or not: how many times (x) what token_bucket takes, and in how many rounds.\n\n" . loss_table($losses)
    . "\n## Goals\n\n" . table(['', 'goal', 'measured', ''], array_map(fn ($goal) => $goal->row(), $goals), 'llrl')
    . "\n## How it was measured\n\n" . rules();
foreach ($sections as $section) {
    $text .= $section->text === '' ? '' : "## $section->title\n\n" . trim($section->text) . "\n\n";
    $tables .= $section->tables === '' ? '' : "\n## $section->title\n\n" . trim($section->tables) . "\n";
}
$tables .= "\n## The machine and the versions\n\n" . configuration();
$text = rtrim($text) . "\n";
file_put_contents("$folder/benchmarks.md", $text);
file_put_contents("$folder/benchmarks/tables.md", $tables);

echo calls_tables(), "\n";
foreach ($sections as $section) {
    foreach ($section->summary as $line) {
        echo str_replace('`', '', $line), "\n";
    }
}
foreach ($goals as $goal) {
    echo str_replace('`', '', "Goal: $goal->what, $goal->goal: $goal->measured, "), $goal->is_met ? 'met' : 'MISSED', "\n";
}
$missed = count(array_filter($goals, fn ($goal) => !$goal->is_met));
echo "\n", count($goals) - $missed, ' of ', count($goals), " goals met. Written: $folder/benchmarks.md, $folder/benchmarks/tables.md and *.svg\n";
exit((int) (bool) array_filter($goals, fn ($goal) => $goal->is_exactness && !$goal->is_met));
