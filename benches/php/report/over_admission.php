<?php
/*
 * The section on how many calls each limiter accepts of those it should.
 */

function over_admission(): Section
{
    $section = new Section('How many calls are accepted');
    $data = kept('over_admission');
    $rows = [];
    $all_tries = $data['processes'] * $data['tries'];
    foreach (array_intersect_key(counted_limiters(), $data['limiters']) as $name => $limiter) {
        ['admitted' => $admitted, 'tried' => $tried] = $data['limiters'][$name];
        $most = max($admitted);
        $verdict = match (true) {
            $most > $data['limit'] => 'too many',
            min($admitted) < $data['limit'] => min($tried) === $all_tries ? 'too few' : 'not finished',
            default => 'exact',
        };
        $rows[] = [$limiter->store, $limiter->title, number_format($most), number_format(median($admitted)), $verdict, count($admitted), number_format(median($tried))];
        if ($limiter->is_ours()) {
            $section->goals[] = new Goal("$limiter->title, $limiter->store: accepted of {$data['limit']} under {$data['processes']} processes", "{$data['limit']}, every time", number_format(min($admitted)) . ' to ' . number_format($most), $verdict === 'exact', is_exactness: true);
        }
        if ($most > $data['limit']) {
            $section->summary[] = "Accepted of {$data['limit']}: $limiter->title, $limiter->store: up to " . number_format($most);
        }
    }
    $too_many = array_filter($rows, fn (array $row) => $row[4] !== 'exact');
    $is_exact = array_filter($section->goals, fn (Goal $goal) => !$goal->is_met) === [];
    $ours = 'token_bucket accepted ' . ($is_exact ? "{$data['limit']} every time on all stores" : '**another number**');
    $others = count($too_many);
    usort($too_many, fn (array $a, array $b): int => (int) strtr($b[2], [',' => '']) <=> (int) strtr($a[2], [',' => '']));
    $names = array_map(fn (array $row) => "$row[1], $row[0]: up to $row[2]", array_slice($too_many, 0, 3));
    $section->text = "With a limit of {$data['limit']} and {$data['processes']} processes that begin at once, $ours. $others of the others accepted too many ([all](benchmarks/tables.md#how-many-calls-are-accepted)); the most:\n\n"
        . implode('', array_map(fn (string $name) => "- $name\n", $names));
    $section->tables = "A limit of {$data['limit']} that does not come back while this runs; {$data['processes']} processes with {$data['tries']} tries each begin at once, as many times as the table says. "
        . "A process that waits for its lock and has not finished after {$data['patience']} s stops there. "
        . "A race need not show every time: a limiter that accepted no more than it should in this run is called exact here, and may yet be none.\n\n"
        . "The counter by `apcu_fetch` and `apcu_store`, the bucket by `GET` and `SET`, and symfony/rate-limiter without a lock read and write in two steps, and other processes may write between them. "
        . "The lock by `add` is done without after ten tries, as it was published. "
        . 'Tries of ' . number_format($all_tries) . " in the last column.\n\n" . table(['store', 'limiter', 'most', 'median', '', 'times', 'tries, median'], $rows, 'llrrlrr');
    return $section;
}
