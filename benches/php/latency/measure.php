<?php
/*
 * Measures the calls of one limiter, in the process that has opened it.
 */

/** The number of single calls that are timed in a round. */
const SINGLE_CALLS = 500;

/** @return array{mean: float, median: float, p99: float} nanoseconds of a call: in a loop of many, and of single ones */
function measured(Closure $tries, int $calls): array
{
    $empty_loop = function (int $n): int { for ($i = 0; $i < $n; $i++) { } return $n; };
    $mean = per_call($tries, $calls) - per_call($empty_loop, 200_000);
    $single = [];
    for ($i = 0; $i < SINGLE_CALLS; $i++) {
        $start = hrtime(true);
        $tries(1);
        $single[] = hrtime(true) - $start;
    }
    return ['mean' => $mean, 'median' => median($single), 'p99' => quantile($single, 0.99)];
}

/** Nanoseconds. */
function per_call(Closure $tries, int $n): float
{
    $start = hrtime(true);
    $accepted = $tries($n);
    $took = hrtime(true) - $start;
    // A denied call does less and must not be counted here.
    $accepted === $n || throw new RuntimeException("only $accepted of $n calls were let in");
    return $took / $n;
}
