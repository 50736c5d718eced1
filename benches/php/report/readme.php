<?php
/*
 * The sentence on speed in README, made from the pages of the benchmarks: the report writes it, and make lint compares it.
 */

function readme_sentence(string $page, string $tables): string
{
    $find = function (string $pattern, string $text): array {
        preg_match("/^\\| $pattern/m", $text, $found) || throw new RuntimeException("The benchmarks have no row $pattern");
        return array_slice($found, 1);
    };
    $number = fn (string $text): string => two_digits((float) str_replace(',', '', $text));
    [$memory, $unit, $apcu] = $find('a decision in shared memory [^|]*\\| ([\\d.,]+) (\\S+) \\| ([\\d.,]+) x', $page);
    [$many, $many_unit] = $find('the same with 100,000 clients at random \\| ([\\d.,]+) (\\S+) ', $page);
    [$redis, $redis_unit, $symfony] = $find('a decision on Redis, unix socket \\| ([\\d.,]+) (\\S+) \\| ([\\d.,]+) x', $page);
    // The first row of each is that of the latencies.
    [$window] = $find('Redis, TCP \\| phpredis, `INCR` and `EXPIRE` \\| ([\\d.,]+) x', $tables);
    [$script] = $find('Redis, TCP \\| phpredis, `EVALSHA` of a minimal script \\(GCRA\\) \\| ([\\d.,]+) x', $tables);
    $less = fn (string $ratio): string => round(100 * (1 - (float) $ratio)) . ' %';
    return "A decision in shared memory took {$number($memory)} $unit for one client and {$number($many)} $many_unit for 100,000 in random order, on Redis' socket {$number($redis)} $redis_unit; symfony/rate-limiter took {$number($apcu)} and {$number($symfony)} times as long. "
        . "**Over TCP phpredis is faster**: `INCR` and `EXPIRE` by {$less($window)}, a minimal script by {$less($script)}:";
}

function two_digits(float $number): string
{
    $places = 1 - (int) floor(log10($number));
    return number_format(round($number, $places), max(0, $places), '.', '');
}

/** README with this sentence in the place of the one that it has. */
function with_sentence(string $readme, string $sentence): string
{
    $lines = wordwrap("- **Fast.** $sentence [docs/benchmarks.md](docs/benchmarks.md#where-token_bucket-loses).", 170, "\n  ");
    $changed = preg_replace('/^- \*\*Fast\.\*\* .*?(?=\n- )/ms', addcslashes($lines, '\\$'), $readme, 1, $count);
    return $count === 1 ? $changed : throw new RuntimeException('README has no paragraph "Fast."');
}
