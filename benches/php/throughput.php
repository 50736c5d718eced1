<?php
/*
 * Measures the decisions a second of several processes, on one bucket for all and on one bucket each.
 */

require __DIR__ . '/lib/bench.php';

const PROCESSES = [1, 2, 4, 8];
const COMPARED = ['shm', 'apcu_window', 'symfony_apcu', 'symfony_apcu_lock', 'redis_unix'];
const SECONDS = 0.35;

$limiters = limiters();
$data = ['rounds' => rounds(5), 'seconds' => SECONDS, 'processes' => PROCESSES];
$data['buckets'] = array_fill_keys(['one', 'different'], array_fill_keys(COMPARED, array_fill_keys(PROCESSES, [])));
for ($round = 0; $round < $data['rounds']; $round++) {
    foreach (in_turn(COMPARED, $round) as $name) {
        foreach (['one', 'different'] as $buckets) {
            foreach (in_turn(PROCESSES, $round) as $count) {
                $data['buckets'][$buckets][$name][$count][] = decisions_a_second($limiters[$name], $count, $buckets === 'one', SECONDS);
            }
        }
    }
}
keep('throughput', $data);
