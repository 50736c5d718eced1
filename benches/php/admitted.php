<?php
/*
 * Plots what three limits of 10 in 60 s admit of the same calls, by their own classes and the test clock: docs/images/admitted-*.svg.
 * Usage: scripts/pictures.sh
 */

use TokenBucket\{FixedWindow, SlidingWindow, TestClock};

const INKS = ['light' => '#59636e', 'dark' => '#9198a1'];
const LIMIT = 10;
const INTERVAL = 60;
const LAST = 180;
/** One call, a pause, then a call each second: where they differ most. */
const FIRST_OF_MANY = 50;
/** As long as no title is. */
const TITLE = 60;

$limiters = [
    'TokenBucket' => TokenBucket::per('array:', 'a', LIMIT, INTERVAL),
    'FixedWindow' => new FixedWindow('array:', 'a', LIMIT, INTERVAL),
    'SlidingWindow' => new SlidingWindow('array:', 'a', LIMIT, INTERVAL),
];
$admitted = array_fill_keys(array_keys($limiters), []);
$rows = [];
TestClock::freeze(1_000_000);
for ($second = 0; $second <= LAST; $second++, TestClock::advance(1)) {
    foreach ($limiters as $name => $limiter) {
        if (($second === 0 || $second >= FIRST_OF_MANY) && $limiter->consume()) {
            $admitted[$name][] = $second;
        }
    }
    $rows[] = implode("\t", [$second, ...array_map(count(...), $admitted)]) . "\n";
}

$folder = dirname(__DIR__, 2) . '/docs/images';
$data = tempnam(sys_get_temp_dir(), 'admitted');
file_put_contents($data, implode($rows));
foreach (INKS as $theme => $ink) {
    $variables = ['output_file' => "$folder/admitted-$theme.svg", 'style' => __DIR__ . '/plots/style.gp', 'data' => $data, 'ink' => $ink,
        'titles' => implode(array_map(fn (string $name, array $seconds): string => str_pad("$name: " . most($seconds) . ' in its fullest ' . INTERVAL . ' s', TITLE), array_keys($admitted), $admitted)), 'styles' => '1 6 3'];
    $settings = implode(array_map(fn (string $name, string $value): string => "$name = '$value'; ", array_keys($variables), $variables)) . 'series = ' . count($limiters) . '; last = ' . LAST . '; title_length = ' . TITLE;
    exec('gnuplot -e ' . escapeshellarg($settings) . ' ' . escapeshellarg(__DIR__ . '/plots/admitted.gp') . ' 2>&1', $said, $status);
    $status === 0 || throw new RuntimeException('gnuplot: ' . implode("\n", $said));
    describe("$folder/admitted-$theme.svg", $admitted);
}
unlink($data);

/** What gnuplot does not write: the title and the description that a screen reader reads. */
function describe(string $file, array $admitted): void
{
    $counts = implode(', ', array_map(fn (string $name, array $seconds): string => "$name " . count($seconds) . ', at most ' . most($seconds) . ' in any ' . INTERVAL . ' s', array_keys($admitted), $admitted));
    $title = 'What a TokenBucket, a FixedWindow and a SlidingWindow of ' . LIMIT . ' in ' . INTERVAL . ' s admit of the same calls';
    $description = 'One call at 0 s, then one a second from ' . FIRST_OF_MANY . ' s to ' . LAST . " s. Admitted in all: $counts.";
    $svg = preg_replace('~<title>Gnuplot</title>\s*<desc>.*?</desc>~', "<title id=\"t\">$title</title>\n<desc id=\"d\">$description</desc>", file_get_contents($file), 1, $replaced);
    $svg = preg_replace('~<svg\s+viewBox="0 0 (\d+) (\d+)"~', '<svg role="img" aria-labelledby="t d" width="$1" height="$2" viewBox="0 0 $1 $2"', $svg, 1);
    $replaced === 1 || throw new RuntimeException("$file: gnuplot has written no title");
    file_put_contents($file, $svg);
    echo "$file: $description\n";
}

/** The most of these within a stretch of INTERVAL seconds. */
function most(array $seconds): int
{
    return max(array_map(fn (int $from): int => count(array_filter($seconds, fn (int $second): bool => $second >= $from && $second < $from + INTERVAL)), $seconds));
}
