<?php
/*
 * The costs of the model, in the form that the simulation reads, from what was measured.
 */

/** Processors that one server can use: Redis decides in one thread; for MariaDB it is an assumption. */
const PROCESSORS = ['redis' => 1, 'mariadb' => 4];

/** The costs of each store: times in nanoseconds, bytes of a trip, bytes of a client. */
function model_costs(array $data): array
{
    $model = [];
    foreach ($data['costs'] as $store => $kinds) {
        $of = fn (string $kind, string $what) => median($kinds[$kind][$what]);
        if ($store === 'shm') {
            $none = array_fill_keys(['read', 'take', 'batch', 'server_wake', 'caller', 'caller_wake', 'gap', 'read_in', 'read_out', 'take_in', 'take_out', 'batch_in', 'batch_out'], 0);
            $model[$store] = ['protocol' => 'local', 'local' => $of('hot', 'ns'), 'denied' => $of('denied', 'ns'), 'client_bytes' => 16, 'processors' => 1] + $none;
            continue;
        }
        $busy = fn (string $kind, string $what) => median($data['busy'][$store][$kind][$what]);
        $is_swap = $of('quiet', 'trips') > 1.5;
        // A quiet bucket is read before it is swapped.
        $read = fn (string $what) => $is_swap ? max(0, ($busy('busy_quiet', $what) - $busy('busy_own', $what)) / ($busy('busy_quiet', 'trips') - $busy('busy_own', 'trips'))) : 0;
        $batch = fn (string $what) => $busy('busy_lease', $what) / $busy('busy_lease', 'trips');
        [$take, $caller] = [$busy('busy_own', 'cpu'), $busy('busy_own', 'client')];
        $model[$store] = [
            'protocol' => $is_swap ? 'swap' : 'script',
            'read' => $read('cpu'),
            'take' => $take,
            // A swap is the same statement, whatever it takes.
            'batch' => $is_swap ? $take : $batch('cpu'),
            'server_wake' => max(0, $of('hot', 'cpu') - $take),
            'caller' => $caller,
            'caller_wake' => max(0, $of('hot', 'client') - $caller),
            'gap' => max(0, $of('hot', 'ns') - $of('hot', 'cpu') - $of('hot', 'client')),
            // A batch of 4,095 takes a trip.
            'local' => max(0, $of('local', 'ns') - $of('local', 'trips') * $of('hot', 'ns')),
            'denied' => $of('denied', 'ns'),
            'read_in' => $read('in'),
            'read_out' => $read('out'),
            'take_in' => $of('hot', 'in'),
            'take_out' => $of('hot', 'out'),
            'batch_in' => $of('lease', 'in') / $of('lease', 'trips'),
            'batch_out' => $of('lease', 'out') / $of('lease', 'trips'),
            'client_bytes' => $data['bytes'][$store],
            'processors' => PROCESSORS[strtok($store, '_')] ?? $data['threads'],
        ];
    }
    return $model;
}

/** Lines of a store, a name and a value. */
function write_costs(string $file, array $model): void
{
    $text = "# Written by scripts/bench.sh scale, which has measured them; read by cargo bench --bench scale.\n";
    $is_size = fn (string $name) => preg_match('/_(in|out|bytes)$/', $name) === 1;
    foreach ($model as $store => $costs) {
        foreach ($costs as $name => $value) {
            $text .= "$store $name " . (is_string($value) ? $value : ($is_size($name) ? round($value, 2) : (int) round($value))) . "\n";
        }
    }
    file_put_contents($file, $text);
}
