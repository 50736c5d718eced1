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
        $busy = $data['busy'][$store] ?? null;
        $rows[] = [
            $title,
            of_kinds($kinds, 'ns', duration(...)),
            $busy ? implode(' / ', array_map(fn (string $kind) => duration(median($busy[$kind]['cpu'])), ['busy_quiet', 'busy_own', 'busy_lease'])) : '',
            number_format($model[$store]['client_bytes']),
        ];
    }
    $trips = [];
    foreach (array_filter(STORE_TITLES, fn (string $store) => isset($data['busy'][$store]), ARRAY_FILTER_USE_KEY) as $store => $title) {
        $kinds = $data['costs'][$store];
        $bytes = implode(' / ', array_map(fn (string $kind) => digits(median($kinds[$kind]['in']) + median($kinds[$kind]['out'])), ['quiet', 'hot', 'lease']));
        $ways = digits(median($kinds['hot']['in'])) . ' / ' . digits(median($kinds['hot']['out']));
        $trips[] = [$title, of_kinds($kinds, 'trips', digits(...)), $bytes, $ways, of_kinds($kinds, 'cpu', duration(...)), of_kinds($kinds, 'ns', duration(...), ['denied'])];
    }
    return "## What a decision costs\n\nMeasured, one process, servers on one core and the process on the other: on a quiet key / on a busy key / on a busy key with `lease={$data['lease']}`.\n\n"
        . table(['store', 'takes', "a busy server's processor", 'MB of a million clients'], $rows, 'lrrr')
        . "\n- **A busy server** was kept busy by {$data['busy_processes']} processes on its own core, because an idle one also has to wake up for each call. A fleet's capacity follows from the busy number.\n"
        . '- **Memory** is that of limited clients (' . number_format($data['clients']) . " were measured) with keys of about 20 bytes.\n\n"
        . table(['store', 'trips', 'bytes on the wire', 'to the server / from it, busy key', "the server's processor, asleep before", 'denied, and known: takes'], $trips, 'lrrrrr')
        . "\nThe cluster has three masters, and a replica of one. Bytes are those within TCP, whose headers take about 50 more for each packet.\n";
}

/** What was measured of each kind of key, as far as it was. */
function of_kinds(array $kinds, string $what, Closure $format, array $of = ['quiet', 'hot', 'lease']): string
{
    $measured = array_filter($of, fn (string $kind) => isset($kinds[$kind][$what]));
    return implode(' / ', array_map(fn (string $kind) => $format(median($kinds[$kind][$what])), $measured));
}
