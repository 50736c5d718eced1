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

$folder = getenv('BENCH_PAGE');
// Plots of an older run.
array_map(unlink(...), glob("$folder/benchmarks/*.svg"));
$sections = [latency(), open_loop(), throughput(), server_cpu(), outage(), over_admission(), page(), stand_in(), calls()];
$goals = array_merge(...array_map(fn ($section) => $section->goals, $sections));
$losses = array_merge(...array_map(fn ($section) => $section->losses, $sections));

$text = "# Benchmarks\n\nFor developers and operators: what token_bucket costs, beside the limiters that PHP has.\n\n" . summary() . introduction() . "\n";
$text .= "## Goals\n\n" . table(['', 'goal', 'measured', ''], array_map(fn ($goal) => $goal->row(), $goals), 'llrl') . "\n";
$text .= "## Where token_bucket loses\n\n"
    . "All that is quicker, cheaper or back earlier in this run than token_bucket on the same store, be it by noise: how many times (x) what token_bucket takes, and in how many rounds. While a server is "
    . "down, token_bucket's breaker tries it about once a second.\n\n"
    . ($losses ? table(['in', 'on', 'behind', 'by how much'], $losses, 'llll') : "Nowhere in this run.\n") . "\n";
$tables = "# All tables of the benchmarks\n\nWritten by `make bench`. [benchmarks.md](../benchmarks.md) says what was measured, how, and on which machine.\n";
foreach ($sections as $section) {
    $text .= "## $section->title\n\n" . trim($section->text) . "\n\n";
    $tables .= $section->tables === '' ? '' : "\n## $section->title\n\n" . trim($section->tables) . "\n";
}
$tables .= "\n## The machine and the versions\n\n" . configuration();
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
