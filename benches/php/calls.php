<?php
/*
 * Measures calls beside the cheapest equivalent in PHP and its clients, on two cores. Whole limiters are beside each other in
 * latency.php alone, so that no two measurements say the same.
 *
 * Each case is a function that makes $n calls in a loop; the time of the empty loop is subtracted.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/calls/memory.php';
require __DIR__ . '/calls/servers.php';

mysql_tables();
on_two_cores(server_pids());
$data = ['rounds' => rounds(9), 'tables' => []];

$cases = memory_cases();
$calls = array_fill_keys(array_keys($cases), 200_000);
$data['tables'][] = rows('shared memory, ns per call', memory_rows(), MEMORY_NAMES, measure($cases, $calls, $data['rounds']), 1);

$cases = server_cases();
$calls = array_fill_keys(array_keys($cases), 500);
$calls['loop'] = $calls['denied'] = 200_000;
$calls['redis_lease_unix'] = $calls['redis_lease_tcp'] = 50_000;
$data['tables'][] = rows('servers, µs per call', server_rows(), SERVER_NAMES, measure($cases, $calls, $data['rounds']), 1e3);

$cases = sql_cases();
$data['statements'] = mysql_statements($cases);
$calls = array_fill_keys(array_keys($cases), 500);
$calls['loop'] = 200_000;
$rows = [...sql_rows('mariadb'), ...sql_rows('mysql')];
$data['tables'][] = rows('unix socket, no wait for a disk; µs per call', $rows, SERVER_NAMES, measure($cases, $calls, $data['rounds']), 1e3);
keep('calls', $data);

/** @return array<string, float[]> nanoseconds a call, by round */
function measure(array $cases, array $calls, int $rounds): array
{
    $times = [];
    for ($round = 0; $round < $rounds; $round++) {
        foreach (in_turn(array_keys($cases), $round) as $name) {
            $start = hrtime(true);
            $cases[$name]($calls[$name]);
            $times[$name][] = (hrtime(true) - $start) / $calls[$name];
        }
    }
    foreach ($times as $name => $values) {
        $around = $times[in_array($name, ['many', 'apcu_many'], true) ? 'pick' : 'loop'];
        $net[$name] = array_map(fn ($value, $loop) => $value - $loop, $values, $around);
    }
    return $net;
}

/** Makes a table: each case's minimum and median, and the median of its ratios to another case. */
function rows(string $head, array $rows, array $names, array $times, float $unit): array
{
    $table = ['head' => $head, 'rows' => []];
    foreach ($rows as [$what, $name, $than]) {
        $table['rows'][] = [
            'what' => $what,
            'min' => min($times[$name]) / $unit,
            'median' => median($times[$name]) / $unit,
            'ratio' => $than === null ? null : ratio_of($times[$name], $times[$than]),
            'than' => $than === null ? null : $names[$than],
        ];
    }
    return $table;
}
