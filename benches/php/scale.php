<?php
/*
 * Measures what decisions cost on each store: the constants of the model in docs/scaling.md, and the points that the simulation
 * (benches/scale) has to come to with them.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/scale/servers.php';
require __DIR__ . '/scale/work.php';
require __DIR__ . '/scale/hosts.php';
require __DIR__ . '/scale/memory.php';

const STORES = ['shm', 'redis_unix', 'redis_tcp', 'redis_cluster', 'memcached_unix', 'memcached_tcp', 'mariadb_unix'];
const LEASE = 100;
/** The kinds of calls: on which bucket, with which lease, how many a round. */
const CALLS = ['hot' => ['hot', 0, 2_000], 'quiet' => ['quiet', 0, 2_000], 'denied' => ['denied', 0, 20_000], 'lease' => ['hot', LEASE, 100_000]];
/** The stores whose throughput with several hosts is measured. */
const FLEETS = ['redis_unix', 'memcached_unix', 'mariadb_unix'];
const HOSTS = [1, 2, 4];

mysql_tables();
$data = ['rounds' => rounds(9), 'lease' => LEASE, 'clients' => CLIENTS, 'seconds' => HOST_SECONDS];
$data['costs'] = costs($data['rounds']);
foreach (STORES as $store) {
    $data['bytes'][$store] = bytes_per_client($store);
}
$data['tables'] = full_tables();
$data['points'] = points(max(1, intdiv($data['rounds'], 2) + 1));
keep('scale', $data);

/** What a decision costs, in each round: nanoseconds for the caller, of its processor and of the servers', trips, bytes. */
function costs(int $rounds): array
{
    $cases = $servers = $costs = [];
    foreach (STORES as $store) {
        $servers[$store] = Servers::of($store);
        foreach (CALLS as $kind => [$keys, $lease, $n]) {
            if ($store !== 'shm' || $lease === 0) {
                $cases["$store $kind"] = [$store, $kind, scale_calls(scale_dsn($store, $lease), $keys), $n];
            }
        }
    }
    for ($round = 0; $round < $rounds; $round++) {
        foreach (in_turn(array_keys($cases), $round) as $case) {
            [$store, $kind, $calls, $n] = $cases[$case];
            $n = $store === 'shm' ? 200_000 : $n;
            $calls(min($n, 200));
            $took = ['ns' => 0, 'client' => 0];
            $work = function () use ($calls, $n, &$took): void {
                [$cpu, $start] = [cpu_time(getmypid()), hrtime(true)];
                $calls($n);
                $took = ['ns' => hrtime(true) - $start, 'client' => cpu_time(getmypid()) - $cpu];
            };
            $spent = $servers[$store]?->spent($work);
            $spent ?? $work();
            foreach ($took + ($spent ?? []) as $what => $value) {
                $costs[$store][$kind][$what][] = $value / $n;
            }
        }
    }
    return $costs;
}

/** What several hosts of one process each decide at once, and what that costs the server. */
function points(int $rounds): array
{
    $points = [];
    for ($round = 0; $round < $rounds; $round++) {
        foreach (FLEETS as $store) {
            $servers = Servers::of($store);
            foreach (['hot', 'quiet'] as $keys) {
                foreach ([0, LEASE] as $lease) {
                    foreach (in_turn(HOSTS, $round) as $hosts) {
                        $point = &$points["$store $keys $lease $hosts"];
                        $point ??= ['store' => $store, 'keys' => $keys, 'lease' => $lease, 'hosts' => $hosts];
                        $decisions = 0;
                        $fleet = new Hosts($hosts, scale_dsn($store, $lease), $keys);
                        $spent = $servers->spent(function () use ($fleet, &$decisions): void { $decisions = $fleet->run(); });
                        $point['decisions'][] = $decisions / HOST_SECONDS;
                        $point['trips'][] = $spent['trips'] / $decisions;
                        $point['cpu'][] = $spent['cpu'] / $decisions;
                        unset($point);
                    }
                }
            }
        }
    }
    return array_values($points);
}
