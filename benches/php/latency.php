<?php
/*
 * Measures the time of one decision, by store and limiter, on one bucket in one process.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/latency/measure.php';
require __DIR__ . '/latency/other_php.php';

mysql_tables();
on_two_cores(server_pids());

$measures = [];
foreach (limiters() as $name => $limiter) {
    $tries = ($limiter->open)('latency', CAPACITY, RATE);
    $calls = calls_for($tries, 20);
    $measures[$name] = fn () => measured($tries, $calls);
}
foreach (variants() as $name => $variant) {
    $measures[$name] = (new OtherPhp($variant))->measure(...);
}

$data = ['rounds' => rounds(9), 'single_calls' => SINGLE_CALLS, 'limiters' => []];
for ($round = 0; $round < $data['rounds']; $round++) {
    foreach (in_turn(array_keys($measures), $round) as $name) {
        foreach ($measures[$name]() as $what => $value) {
            $data['limiters'][$name][$what][] = $value;
        }
    }
}
keep('latency', $data);
