<?php
/*
 * The section on the costs of a decision.
 */

const STORE_TITLES = [
    'shm' => '`shm:`',
    'redis_unix' => 'Redis, unix socket',
    'redis_tcp' => 'Redis, TCP',
    'redis_cluster' => 'Redis Cluster, TCP',
    'memcached_unix' => 'memcached, unix socket',
    'memcached_tcp' => 'memcached, TCP',
    'mariadb_unix' => 'MariaDB, unix socket',
];

function cost_section(array $data, array $model): string
{
    $rows = $memory = [];
    foreach ($data['costs'] as $store => $kinds) {
        foreach (['quiet' => 'a quiet key', 'hot' => 'a busy key', 'lease' => "the same with `lease={$data['lease']}`", 'denied' => 'denied, and known'] as $kind => $what) {
            if (!isset($kinds[$kind])) {
                continue;
            }
            $of = fn (string $name) => median($kinds[$kind][$name] ?? [0]);
            $busy = ['quiet' => 'busy_quiet', 'hot' => 'busy_own', 'lease' => 'busy_lease'][$kind] ?? null;
            $rows[] = [
                $kind === 'quiet' ? STORE_TITLES[$store] : '',
                $what,
                $of('trips') < 0.0005 ? '0' : digits($of('trips')),
                duration($of('ns')),
                isset($kinds[$kind]['cpu'], $data['busy'][$store][$busy]) ? duration($of('cpu')) . ' / ' . duration(median($data['busy'][$store][$busy]['cpu'])) : '',
                isset($kinds[$kind]['in']) && $of('trips') > 0.0005 ? digits($of('in')) . ' / ' . digits($of('out')) : '',
            ];
        }
        if ($store !== 'redis_unix' && $store !== 'memcached_unix') {
            $memory[] = STORE_TITLES[$store] . ' ' . number_format($model[$store]['client_bytes']);
        }
    }
    return "## What a decision costs\n\nMeasured: one process, servers on one core and the process on the other. The server's processor time is that of a server that slept before each call, and that of one that "
        . "{$data['busy_processes']} processes keep awake, of which most is saved when it is busy.\n\n"
        . table(['store', 'decision', 'trips', 'takes', "server's processor, asleep / busy", 'bytes to / from it'], $rows, 'llrrrr')
        . "\n**Memory**, in MB for a million clients that are limited (" . number_format($data['clients']) . " clients measured, keys of about 20 bytes): " . implode(', ', $memory)
        . '. On servers a host needs 9 MiB of its own besides, however many clients there are (' . '[configuration.md](configuration.md#containers))' . ".\n";
}
