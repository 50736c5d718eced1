<?php
/*
 * Measures the time of one decision, by store and limiter, on one bucket in one process.
 */

require __DIR__ . '/lib/bench.php';

/** The number of single calls that are timed in a round. */
const SINGLE_CALLS = 1_000;

mysql_tables();

$cases = $calls = [];
foreach (limiters() as $name => $limiter) {
    $cases[$name] = ($limiter->open)('latency', CAPACITY, RATE);
    $calls[$name] = calls_for($cases[$name], 20);
}
$empty_loop = function (int $n): int { for ($i = 0; $i < $n; $i++) { } return $n; };

$data = ['rounds' => rounds(11), 'single_calls' => SINGLE_CALLS, 'limiters' => []];
for ($round = 0; $round < $data['rounds']; $round++) {
    $loop = per_call($empty_loop, 1_000_000);
    foreach (in_turn(array_keys($cases), $round) as $name) {
        $tries = $cases[$name];
        $data['limiters'][$name]['mean'][] = per_call($tries, $calls[$name]) - $loop;
        $single = [];
        for ($i = 0; $i < SINGLE_CALLS; $i++) {
            $start = hrtime(true);
            $tries(1);
            $single[] = hrtime(true) - $start;
        }
        $data['limiters'][$name]['median'][] = median($single);
        $data['limiters'][$name]['p99'][] = quantile($single, 0.99);
    }
}
keep('latency', $data);

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
