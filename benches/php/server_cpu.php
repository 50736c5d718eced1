<?php
/*
 * Measures a decision's cost for the server: the processor time of all its threads over many decisions of one process.
 */

require __DIR__ . '/lib/bench.php';

const DECISIONS = 2_000;

mysql_tables();
$limiters = array_filter(server_limiters(), fn ($limiter) => str_ends_with($limiter->store, 'unix socket'));
$cases = array_map(fn ($limiter) => ($limiter->open)('cpu', CAPACITY, RATE), $limiters);
$pids = [
    'Redis' => phpredis(redis_dsn('unix'))->info('server')['process_id'],
    'memcached' => memcached_stats(getenv('TB_MEMCACHED_UNIX'), 'stats')['pid'],
    'MariaDB' => sql_pid('mariadb'),
    'MySQL' => sql_pid('mysql'),
];

$data = ['rounds' => rounds(9), 'decisions' => DECISIONS, 'limiters' => []];
for ($round = 0; $round < $data['rounds']; $round++) {
    foreach (in_turn(array_keys($cases), $round) as $name) {
        $tries = $cases[$name];
        $pid = $pids[strtok($limiters[$name]->store, ',')];
        $tries(100);
        $before = cpu_time($pid);
        $tries(DECISIONS);
        $data['limiters'][$name][] = (cpu_time($pid) - $before) / DECISIONS;
    }
}
keep('server_cpu', $data);
