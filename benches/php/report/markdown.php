<?php
/*
 * Tables and numbers in the report's format.
 */

/** @param string $sides l or r for each column */
function table(array $head, array $rows, string $sides): string
{
    $line = fn (array $cells) => '| ' . implode(' | ', $cells) . " |\n";
    $text = $line($head) . '|' . implode('|', array_map(fn ($side) => $side === 'r' ? '---:' : '---', str_split($sides))) . "|\n";
    return $text . implode('', array_map($line, $rows));
}

/** A number with three significant digits. */
function digits(float $number): string
{
    $size = abs($number) > 0 ? (int) floor(log10(abs($number))) : 0;
    return number_format($number, max(0, 2 - $size));
}

/** A number with one significant digit: no more is known of what is simulated. */
function rough(float $number): string
{
    if ($number == 0) {
        return '0';
    }
    $rounded = round($number, -(int) floor(log10(abs($number))));
    return number_format($rounded, max(0, -(int) floor(log10(abs($rounded)))));
}

function ratio(float $ratio): string
{
    return digits($ratio) . ' x';
}

/** A time in the unit that fits. */
function duration(float $nanoseconds, ?Closure $format = null): string
{
    $format ??= digits(...);
    foreach (['s' => 1e9, 'ms' => 1e6, 'µs' => 1e3] as $unit => $size) {
        if (abs($nanoseconds) >= $size) {
            return $format($nanoseconds / $size) . " $unit";
        }
    }
    return $format($nanoseconds) . ' ns';
}

/** A difference in percent, with its sign. */
function percent(float $ratio): string
{
    return sprintf('%+.2f %%', 100 * ($ratio - 1));
}
