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
    $rows = [];
    foreach (STORE_TITLES as $store => $title) {
        $kinds = $data['costs'][$store];
        $each = fn (string $what, Closure $format, array $of = ['quiet', 'hot', 'lease']) => implode(' / ', array_map(
            fn (string $kind) => $format(median($kinds[$kind][$what])),
            array_filter($of, fn (string $kind) => isset($kinds[$kind][$what])),
        ));
        $busy = $data['busy'][$store] ?? null;
        $rows[] = [
            $title,
            $busy ? $each('trips', digits(...)) : '0',
            $each('ns', duration(...)),
            $each('ns', duration(...), ['denied']),
            $busy ? $each('cpu', duration(...)) : '',
            $busy ? implode(' / ', array_map(fn (string $kind) => duration(median($busy[$kind]['cpu'])), ['busy_quiet', 'busy_own', 'busy_lease'])) : '',
            $busy ? implode(' / ', array_map(fn (string $kind) => digits(median($kinds[$kind]['in']) + median($kinds[$kind]['out'])), ['quiet', 'hot', 'lease'])) : '',
            number_format($model[$store]['client_bytes']),
        ];
    }
    return "## What a decision costs\n\nMeasured, one process, servers on one core and the process on the other: on a quiet key / on a busy key / on a busy key with `lease={$data['lease']}`.\n\n"
        . table(['store', 'trips', 'takes', 'denied, and known', "the server's processor, asleep before", 'the same, kept busy', 'bytes on the wire', 'MB of a million clients'], $rows, 'lrrrrrrr')
        . "\n- **Asleep or busy**: a processor that slept has to wake up for each call, so a server that has much to do needs less for a decision. It is kept busy by {$data['busy_processes']} processes on its own core. What breaks first depends on the second number. The cluster has three nodes, and one of them a replica.\n"
        . '- **Memory** is that of limited clients (' . number_format($data['clients']) . " were measured) with keys of about 20 bytes. For a store on servers each host has 9 MiB besides, whatever the number of clients ([configuration.md](runtimes.md#containers)).\n";
}
