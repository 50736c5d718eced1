<?php
/*
 * How many are let in when eight processes try at once: a hundred, if the limiter is exact.
 */

require __DIR__ . '/lib/bench.php';

const LIMIT = 100;
const PROCESSES = 8;
const TRIES = 500;

/** A limiter that waits for its lock would be at it for minutes: then a process stops, and says how far it came. */
const PATIENCE_NS = 2_000_000_000;

/** One token an hour: none while this runs. */
const TOKENS_PER_SECOND = 1 / 3600;

mysql_tables();
$data = ['rounds' => rounds(5), 'limit' => LIMIT, 'processes' => PROCESSES, 'tries' => TRIES, 'patience' => PATIENCE_NS / 1e9, 'limiters' => []];
for ($round = 0; $round < $data['rounds']; $round++) {
    foreach (in_turn(array_keys(limiters()), $round) as $name) {
        $limiter = limiters()[$name];
        // These are one process's own, or the same on another kind of connection.
        if ($name === 'array' || str_ends_with($limiter->store, 'TCP')) {
            continue;
        }
        // In memory all is over so soon that a race may not show: it gets more chances.
        for ($rush = 0; $rush < ($limiter->store === MEMORY ? 10 : 1); $rush++) {
            [$admitted, $tried] = rush($limiter, "rush:$name:$round:$rush");
            $data['limiters'][$name]['admitted'][] = $admitted;
            $data['limiters'][$name]['tried'][] = $tried;
        }
    }
}
keep('over_admission', $data);

/** @return int[] how many were let in, of how many */
function rush(Limiter $limiter, string $id): array
{
    $results = at_once(PROCESSES, function () use ($limiter, $id): Closure {
        $tries = ($limiter->open)($id, LIMIT, TOKENS_PER_SECOND);
        return function (int $begin) use ($tries): array {
            $admitted = $tried = 0;
            while ($tried < TRIES && hrtime(true) < $begin + PATIENCE_NS) {
                $admitted += $tries(1);
                $tried++;
            }
            return [$admitted, $tried];
        };
    });
    return [array_sum(array_column($results, 0)), array_sum(array_column($results, 1))];
}
