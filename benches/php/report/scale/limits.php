<?php
/*
 * The beginning of the page, and what breaks first.
 */

/** The stores of the simulated fleets: how the page names them, a style for plots, what stops a busy key and many clients. */
const FLEET_STORES = [
    'redis' => ['Redis', 1],
    'cluster' => ['Redis Cluster, 6 masters', 3],
    'memcached' => ['memcached', 2],
    'mariadb' => ['MariaDB', 4],
];

/** The fleets of one experiment that have these values. */
function fleets(array $fleets, array $values): array
{
    return array_values(array_filter($fleets, fn (array $fleet) => array_intersect_key($fleet, $values) == $values));
}

/** The most of these calls a second that a fleet keeps up with: [that fleet, the first that does not or null]; null if it never does. */
function breaking_point(array $fleets): array
{
    $last = null;
    foreach ($fleets as $fleet) {
        if (!$fleet['keeps_up']) {
            return [$last, $fleet];
        }
        $last = $fleet;
    }
    return [$last, null];
}

/** What a fleet that does not keep up lacks. */
function reason(array $fleet): string
{
    $is_busy = $fleet['busy'] > 0.001 && $fleet['busiest'] < 0.9;
    return match (true) {
        $is_busy && $fleet['locked'] > 0 => "hosts undo each other's swaps, and wait for the row's lock",
        $is_busy => "hosts undo each other's swaps",
        $fleet['nodes'] > 1 && $fleet['utilisation'] < 0.5 * $fleet['busiest'] => "the one node's processor that has the key",
        default => "the server's processor",
    };
}

/** What goes to the servers, and what comes from them. */
function bandwidth(array $fleet): string
{
    return rough(8e-6 * $fleet['bytes_to_server']) . ' / ' . rough(8e-6 * $fleet['bytes_from_server']);
}

/** @param int[] $deviations how many points are within 20 %, and how many there are */
function first_section(array $on, array $deviations): string
{
    $machine = ($on['virtual'] ? 'a virtual machine with ' : '') . "{$on['cores']} cores of an {$on['cpu']}";
    $busy = busy_mark('environment', 'redis_cost', 'scale', 'hot_key');
    return "# Tables for fleets\n\nFor readers of [fleet.md](../fleet.md) who want to see its numbers. Written by `scripts/bench.sh scale`.\n\n"
        . "- **Measured**: the costs, on {$on['date']} (commit {$on['commit']}) on $machine, PHP {$on['php']}.$busy\n"
        . "- **Simulated** with these costs: the fleets. {$deviations[0]} of {$deviations[1]} simulated points are within 20 % of [what was measured](#measured-and-simulated), and no measurement had more than four hosts. So simulated numbers have one digit. [The model](model.md).\n";
}

function limits_section(array $rates): string
{
    $rows = [];
    foreach (FLEET_STORES as $store => [$title]) {
        foreach (['one' => 'one key', 'many' => '10 million clients'] as $keys => $what) {
            $cells = $reasons = $bits = [];
            foreach ([0, 100] as $lease) {
                [$last, $broken] = breaking_point(fleets($rates, ['store' => $store, 'keys' => $keys, 'lease' => $lease]));
                $cells[] = ($broken ? '' : 'over ') . ($last ? number_format($last['calls']) : 'under 1,000');
                $reasons[] = $broken ? reason($broken) : 'nothing up to here';
                $bits[] = $last ? bandwidth($last) : '';
            }
            $rows[] = [$title, $what, ...$cells, implode('; with leases ', array_unique($reasons)), ...$bits];
        }
    }
    return "## What breaks first\n\nSimulated: the most calls a second of 100 hosts that each store kept up with, of 1,000, 2,000, 3,000, 5,000, 7,000, 10,000 and so on to 2 million. "
        . "Mbit/s are those to the servers / from them, without the headers of TCP:\n\n"
        . table(['store', 'calls on', 'without leases', '`lease=100`', 'what is short first', 'Mbit/s without', 'Mbit/s with'], $rows, 'llrrlrr')
        . "\nA store keeps up while one call in a thousand at most takes longer than 50 ms or cannot be decided in its time (`on_error` answers it then), no queue grows, and no call finds all workers at work. "
        . "\"One key\" is a limit that all calls share and that accepts them. Each of \"10 million clients\" has a limit of 100 and 10 a second.\n\n"
        . "![load of the busiest server, one key](one-key.svg)\n";
}
