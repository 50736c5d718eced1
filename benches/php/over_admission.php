<?php
/*
 * Counts the calls that are accepted when eight processes try at once: a hundred, if the limiter is exact.
 */

require __DIR__ . '/lib/bench.php';

const LIMIT = 100;
const PROCESSES = 8;
const TRIES = 500;

/** A limiter that waits for its lock would take minutes: a process stops after so long and reports its tries. */
const PATIENCE_NS = 2_000_000_000;

/** One token an hour, so none comes back while this runs. */
const TOKENS_PER_SECOND = 1 / 3600;

mysql_tables();
$data = ['rounds' => rounds(5), 'limit' => LIMIT, 'processes' => PROCESSES, 'tries' => TRIES, 'patience' => PATIENCE_NS / 1e9, 'limiters' => []];
$limiters = counted_limiters();
for ($round = 0; $round < $data['rounds']; $round++) {
    foreach (in_turn(array_keys($limiters), $round) as $name) {
        $limiter = $limiters[$name];
        // Left out: buckets of one process only, and stores measured over another connection.
        if ($name === 'array' || str_contains($name, '_tcp')) {
            continue;
        }
        // In memory a round is too short for every race to show, so there are more rounds.
        for ($rush = 0; $rush < ($limiter->store === MEMORY ? 10 : 1); $rush++) {
            [$admitted, $tried] = rush($limiter, "rush:$name:$round:$rush");
            $data['limiters'][$name]['admitted'][] = $admitted;
            $data['limiters'][$name]['tried'][] = $tried;
        }
    }
}
keep('over_admission', $data);
foreach ($data['limiters'] as $name => ['admitted' => $admitted]) {
    printf("%-45s %-20s %d to %d\n", $limiters[$name]->title, $limiters[$name]->store, min($admitted), max($admitted));
}

/** @return int[] the number of accepted calls, and of tries */
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
