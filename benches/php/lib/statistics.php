<?php
/*
 * Medians, and ratios of measurements of the same round.
 */

/** @param float[] $values */
function quantile(array $values, float $part): float
{
    sort($values);
    return $values[min(count($values) - 1, (int) floor($part * count($values)))];
}

/** @param float[] $values */
function median(array $values): float
{
    sort($values);
    $middle = intdiv(count($values), 2);
    return count($values) % 2 ? $values[$middle] : ($values[$middle - 1] + $values[$middle]) / 2;
}

/**
 * The median of the rounds' ratios, which is not affected by slow rounds.
 *
 * @param float[] $values of every round
 * @param float[] $than of the same rounds
 */
function ratio_of(array $values, array $than): float
{
    return median(array_map(fn ($a, $b) => $a / $b, $values, $than));
}

/**
 * Says in how many rounds the values were less.
 *
 * @param float[] $values of every round
 * @param float[] $than of the same rounds
 */
function rounds_below(array $values, array $than): string
{
    return count(array_filter(array_map(fn ($a, $b) => $a < $b, $values, $than))) . ' of ' . count($values) . ' rounds';
}
