<?php
/*
 * Draws plots with gnuplot from files of numbers.
 */

/** @param array<string, string> $variables of the script benches/php/plots/$script.gp */
function plot(string $script, string $name, array $variables, string $folder = 'benchmarks'): string
{
    $output = getenv('BENCH_PAGE') . "/$folder/$name.svg";
    is_dir(dirname($output)) || mkdir(dirname($output));
    $settings = '';
    foreach (['output_file' => $output, 'style' => dirname(__DIR__) . '/plots/style.gp'] + $variables as $variable => $value) {
        $settings .= "$variable = " . (is_string($value) ? "'" . str_replace("'", "''", $value) . "'" : $value) . '; ';
    }
    $command = ['gnuplot', '-e', $settings, dirname(__DIR__) . "/plots/$script.gp"];
    exec(implode(' ', array_map(escapeshellarg(...), $command)) . ' 2>&1', $said, $status);
    $status === 0 || throw new RuntimeException("gnuplot: " . implode("\n", $said));
    return $output;
}

/** Writes a file of numbers with columns separated by tabs. */
function plot_data(string $name, array $rows): string
{
    $file = data_folder() . "/$name.dat";
    file_put_contents($file, implode('', array_map(fn ($row) => implode("\t", $row) . "\n", $rows)));
    return $file;
}

/**
 * Plots a line for each title: of $rows the first column is x, and each further one is a line.
 *
 * @param array<string, string|int> $variables of the script that have no default here
 */
function lines(string $name, array $titles, array $rows, string $heading, array $variables, string $folder = 'benchmarks'): void
{
    plot('lines', $name, $variables + [
        'data' => plot_data($name, $rows),
        'series' => count($titles),
        'titles' => implode('|', array_map(plain(...), $titles)),
        'heading' => $heading,
        'y_format' => '%.0s %c',
        'settings' => '',
    ], $folder);
}

/**
 * Plots one dot for each limiter, on a logarithmic or linear scale, with a line to a second number.
 *
 * @param array<string, Limiter> $limiters that have titles
 * @param array<string, array<string, float[]>> $groups by heading, limiter's name: the dot, the line's end
 */
function dots(string $name, array $limiters, array $groups, string $label, bool $logarithmic): string
{
    $rows = $labels = [];
    $y = 0;
    foreach ($groups as $heading => $values) {
        $labels[] = '"' . plain($heading) . ':" ' . $y--;
        foreach ($values as $limiter => [$dot, $end]) {
            $title = $limiters[$limiter]->title ?? $limiter;
            $kind = match (true) {
                str_starts_with($title, 'token_bucket') => 1,
                str_starts_with($title, 'symfony') => 2,
                default => 3,
            };
            $labels[] = '"' . plain($title) . "\" $y";
            $rows[] = [$y--, $dot, $end, $kind];
        }
        $y--;
    }
    plot('dots', $name, ['data' => plot_data($name, $rows), 'labels' => implode(', ', $labels), 'x_label' => $label, 'rows' => -$y, 'logarithmic' => (int) $logarithmic]);
    return "![$label](benchmarks/$name.svg)\n\n";
}

/** A text without Markdown, for gnuplot. */
function plain(string $text): string
{
    return strtr($text, ['`' => '', "\t" => ' ', '"' => '']);
}
