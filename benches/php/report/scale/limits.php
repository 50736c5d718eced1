<?php
/*
 * The beginning of the page: what breaks first.
 */

/** The stores of the simulated fleets: how the page names them, a style for plots, what stops a busy key and many clients. */
const FLEET_STORES = [
    'redis' => ['Redis', 1],
    'cluster' => ['Redis Cluster, 6 nodes', 3],
    'memcached' => ['memcached', 2],
    'mariadb' => ['MariaDB', 4],
];

/** Whether a fleet keeps up: no call is late or denied for want of a turn, and no queue grows. */
function keeps_up(array $fleet): bool
{
    return $fleet['late'] == 0 && $fleet['busiest'] < 0.98 && ($fleet['clients'] > 1 || $fleet['accepted'] == 1) && $fleet['unfinished'] < 0.01 * $fleet['calls'] + 100;
}

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
        if (!keeps_up($fleet)) {
            return [$last, $fleet];
        }
        $last = $fleet;
    }
    return [$last, null];
}

/** What a fleet that does not keep up lacks. */
function reason(array $fleet): string
{
    return match (true) {
        $fleet['busiest'] >= 0.9 && $fleet['nodes'] > 1 && $fleet['utilisation'] < 0.5 * $fleet['busiest'] => 'the one node that has the key',
        $fleet['busiest'] >= 0.9 => "the server's processors",
        default => 'swaps of one value, of which other hosts\' undo most',
    };
}

function first_section(array $on, array $rates): string
{
    $rows = [];
    foreach (FLEET_STORES as $store => [$title]) {
        foreach (['one' => 'one key', 'many' => '10 million clients'] as $keys => $what) {
            $cells = [];
            $reasons = [];
            foreach ([0, 100] as $lease) {
                [$last, $broken] = breaking_point(fleets($rates, ['store' => $store, 'keys' => $keys, 'lease' => $lease]));
                $cells[] = ($broken ? '' : 'over ') . ($last ? number_format($last['calls']) : 'under 1,000');
                $reasons[] = $broken ? reason($broken) : 'nothing yet';
            }
            $rows[] = [$title, $what, ...$cells, implode('; with leases ', array_unique($reasons))];
        }
    }
    $machine = ($on['virtual'] ? 'a virtual machine with ' : '') . "{$on['cores']} cores of an {$on['cpu']}";
    $busy = $on['load'] < 0.5 ? '' : ' **It was busy with other things when the run began** (load ' . digits($on['load']) . ').';
    return "# Scaling\n\nFor operators of many hosts: what a decision costs each store, what breaks first when hosts, calls or clients become more, and what to do then.\n\n"
        . "The most calls a second of 100 hosts that each store kept up with, of 1,000, 2,000, 5,000, 10,000 and so on up to 2 million (simulated with measured costs):\n\n"
        . table(['store', 'calls on', 'without leases', '`lease=100`', 'what is short first'], $rows, 'llrrl')
        . "\n\"One key\" is a limit that all calls share and that accepts them. \"10 million clients\" have a limit of 100 and 10 a second each, and calls by Zipf's law, [below](#the-model-and-what-it-leaves-out).\n\n"
        . "![processor time of the servers, one key](scaling/one-key.svg)\n\n"
        . "This page is written by `scripts/bench.sh scale`. Costs were measured on {$on['date']} at {$on['commit']} on $machine, PHP {$on['php']}.$busy All fleets above are extrapolated: "
        . "no measurement here had more than four hosts.\n";
}
