<?php
/*
 * Measures what decisions cost on each store: the constants of the model in docs/fleet/tables.md, and the points that the simulation
 * (benches/scale) has to come to with them.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/scale/servers.php';
require __DIR__ . '/scale/work.php';
require __DIR__ . '/scale/hosts.php';
require __DIR__ . '/scale/memory.php';
require __DIR__ . '/scale/costs.php';
require __DIR__ . '/scale/one_bucket.php';

const STORES = ['shm', 'redis_unix', 'redis_tcp', 'redis_cluster', 'memcached_unix', 'memcached_tcp', 'mariadb_unix'];
/** The kinds of calls of one process: on which buckets, with which lease, how many a round. */
const CALLS = [
    'hot' => ['hot', 0, 2_000],
    'quiet' => ['quiet', 0, 2_000],
    'denied' => ['denied', 0, 20_000],
    'lease' => ['hot', LEASE, 100_000],
    // So few trips that what is left is what a decision takes on the host itself.
    'local' => ['hot', 4_095, 200_000],
];
/** The kinds of calls of many processes, which leave a server no time to sleep: on which buckets, with which lease. */
const BUSY_CALLS = ['busy_own' => ['own', 0], 'busy_quiet' => ['quiet', 0], 'busy_lease' => ['own', LEASE]];
const BUSY_PROCESSES = 16;
const BUSY_SECONDS = 0.3;
/** The stores whose throughput with several hosts is measured. */
const FLEETS = ['redis_unix', 'memcached_unix', 'mariadb_unix'];
const HOSTS = [1, 2, 4];

mysql_tables();
$servers = array_combine(STORES, array_map(Servers::of(...), STORES));
foreach (STORES as $store) {
    make_quiet_buckets(scale_dsn($store, 0));
}
$rounds = rounds(9);
$data = ['rounds' => $rounds, 'lease' => LEASE, 'clients' => CLIENTS, 'busy_processes' => BUSY_PROCESSES, 'threads' => memcached_stats(getenv('TB_MEMCACHED_UNIX'), 'stats')['threads']];
$data['memory'] = decisions_in_memory($rounds);
$data['costs'] = costs($servers, $rounds);
$data['busy'] = busy_costs(array_filter($servers), $rounds);
$data['points'] = points($servers, intdiv($rounds + 1, 2));
foreach (array_filter($servers) as $store => $server) {
    $data['bytes'][$store] = bytes_per_client($server, scale_dsn($store, 0));
}
$data['tables'] = full_tables();
keep('scale', $data);
write_costs(data_folder() . '/scale-costs.txt', model_costs($data));

/** @return int[] the processes of these servers; a store without one is null */
function pids(array $servers): array
{
    return array_merge(...array_map(fn ($server) => $server->pids, array_values(array_filter($servers))));
}

/** What a decision of one process costs, in each round: nanoseconds, of the caller's processor, of the servers'; trips; bytes. */
function costs(array $servers, int $rounds): array
{
    on_two_cores(pids($servers));
    $cases = $costs = [];
    foreach ($servers as $store => $server) {
        foreach (CALLS as $kind => [$keys, $lease, $n]) {
            if ($server !== null || $lease === 0) {
                $cases[] = [$store, $kind, scale_calls(scale_dsn($store, $lease), $keys), $server === null ? 200_000 : $n];
            }
        }
    }
    for ($round = 0; $round < $rounds; $round++) {
        foreach (in_turn(array_keys($cases), $round) as $case) {
            [$store, $kind, $calls, $n] = $cases[$case];
            $calls(max(200, intdiv($n, 10)));
            $took = [];
            $work = function () use ($calls, $n, &$took): void {
                [$cpu, $start] = [cpu_time(getmypid()), hrtime(true)];
                $calls($n);
                $took = ['ns' => hrtime(true) - $start, 'client' => cpu_time(getmypid()) - $cpu];
            };
            $spent = $servers[$store] === null ? $work() ?? [] : $servers[$store]->spent($work);
            foreach ($took + $spent as $what => $value) {
                $costs[$store][$kind][$what][] = $value / $n;
            }
        }
    }
    return $costs;
}

/** What a decision costs a server that does not sleep between two: many processes and the server on one core. */
function busy_costs(array $servers, int $rounds): array
{
    on_two_cores(pids($servers));
    on_one_core([getmypid()]);
    $costs = [];
    for ($round = 0; $round < $rounds; $round++) {
        foreach ($servers as $store => $server) {
            foreach (BUSY_CALLS as $kind => [$keys, $lease]) {
                $done = [];
                $spent = $server->spent(function () use ($store, $keys, $lease, &$done): void {
                    $done = at_once(BUSY_PROCESSES, fn (int $i) => busy_process(scale_dsn($store, $lease), $keys === 'own' ? "own$i" : $keys));
                });
                // What the processes did before they began is not much, and costs as much.
                $decisions = array_sum(array_column($done, 'decisions'));
                $spent['client'] = array_sum(array_column($done, 'cpu'));
                foreach ($spent as $what => $value) {
                    $costs[$store][$kind][$what][] = $value / $decisions;
                }
            }
        }
    }
    return $costs;
}

/** One of many processes. Its decisions are all that it gets from its first one on. */
function busy_process(string $dsn, string $keys): Closure
{
    $cpu = cpu_time(getmypid());
    $calls = scale_calls($dsn, $keys);
    $done = match (true) { $keys === 'quiet' => 0, str_contains($dsn, '&lease=0') => 101, default => 10_001 };
    return function (int $begin) use ($calls, $done, $cpu): array {
        $end = $begin + (int) (BUSY_SECONDS * 1e9);
        for (; hrtime(true) < $end; $done += 50) {
            $calls(50);
        }
        return ['decisions' => $done, 'cpu' => cpu_time(getmypid()) - $cpu];
    };
}

/** What several hosts of one process each decide at once, and what that costs the server. */
function points(array $servers, int $rounds): array
{
    on_two_cores(pids($servers));
    $points = [];
    for ($round = 0; $round < $rounds; $round++) {
        foreach (FLEETS as $store) {
            foreach (['hot', 'quiet'] as $keys) {
                foreach ([0, LEASE] as $lease) {
                    foreach (in_turn(HOSTS, $round) as $hosts) {
                        $name = "$store $keys $lease $hosts";
                        $points[$name] ??= ['store' => $store, 'keys' => $keys, 'lease' => $lease, 'hosts' => $hosts];
                        $fleet = new Hosts($hosts, scale_dsn($store, $lease), $keys);
                        $decisions = 0;
                        $spent = $servers[$store]->spent(function () use ($fleet, &$decisions): void { $decisions = $fleet->run(); });
                        $points[$name]['decisions'][] = $decisions / HOST_SECONDS;
                        $points[$name]['trips'][] = $spent['trips'] / $decisions;
                        $points[$name]['cpu'][] = $spent['cpu'] / $decisions;
                    }
                }
            }
        }
    }
    return array_values($points);
}
