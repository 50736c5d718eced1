<?php
/*
 * Measures a decision's cost for the server: the processor time of all its threads over many decisions of one process.
 */

require __DIR__ . '/lib/bench.php';

const DECISIONS = 1_000;

mysql_tables();
$limiters = array_filter(server_limiters(), fn ($limiter) => str_ends_with($limiter->store, 'unix socket'));
$cases = array_map(fn ($limiter) => ($limiter->open)('cpu', CAPACITY, RATE), $limiters);
$pids = server_pids();
on_two_cores($pids);

$data = ['rounds' => rounds(9), 'decisions' => DECISIONS, 'limiters' => []];
for ($round = 0; $round < $data['rounds']; $round++) {
    foreach (in_turn(array_keys($cases), $round) as $name) {
        $tries = $cases[$name];
        $pid = $pids[$limiters[$name]->store];
        $tries(100);
        $before = cpu_time($pid);
        $tries(DECISIONS);
        $data['limiters'][$name][] = (cpu_time($pid) - $before) / DECISIONS;
    }
}
keep('server_cpu', $data);
