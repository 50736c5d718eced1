<?php
/*
 * The section that compares the simulation with what was measured.
 */

/** By how much a simulated number differs from the measured one. */
function deviation(array $measured, array $simulated): float
{
    return $simulated['decisions'] / median($measured['decisions']) - 1;
}

/** The simulation of a measured point. */
function simulation_of(array $point, array $simulated): array
{
    return fleets($simulated, array_intersect_key($point, array_flip(['store', 'keys', 'lease', 'hosts'])))[0];
}

/** @return int[] how many points are within 20 %, and how many there are */
function deviations(array $points, array $simulated): array
{
    $within = array_filter($points, fn (array $point) => abs(deviation($point, simulation_of($point, $simulated))) <= 0.2);
    return [count($within), count($points)];
}

function point_section(array $points, array $simulated): string
{
    $rows = [];
    foreach ($points as $point) {
        $name = "{$point['store']} {$point['keys']} {$point['lease']}";
        $simulation = simulation_of($point, $simulated);
        $rows[$name] ??= [STORE_TITLES[$point['store']], ($point['keys'] === 'hot' ? 'one busy key' : '10,000 quiet keys') . ($point['lease'] ? ', leases' : '')];
        $difference = deviation($point, $simulation);
        $text = sprintf('%+.0f %%', 100 * $difference);
        $rows[$name][1 + $point['hosts']] = number_format(median($point['decisions'])) . ' / ' . number_format($simulation['decisions']) . ' (' . (abs($difference) > 0.2 ? "**$text**" : $text) . ')';
        $trips[$name][$point['hosts']] = digits(median($point['trips'])) . ' / ' . digits($simulation['trips']);
    }
    foreach ($rows as $name => &$row) {
        ksort($row);
        $row[] = $trips[$name][4];
    }
    [$within, $all] = deviations($points, $simulated);
    return "## Does the simulation come to what was measured?\n\nDecisions a second, measured / simulated: hosts of one process each, with tables of their own, that ask one server as often as they can. "
        . "$within of $all are within 20 %.\n\n"
        . table(['store', 'calls on', '1 host', '2 hosts', '4 hosts', 'trips a decision of 4'], array_map(array_values(...), $rows), 'llrrrr') . "\n" . <<<'MD'
        The simulation knows the costs above, none of these numbers. What it leaves out explains the deviations above 20 % (bold):

        - **How long a sleeping processor takes to wake up** varies on a virtual machine, and with how long it slept. The simulation takes one process's times for all. A server that is kept busy does not
          sleep, so what breaks first depends on this little.
        - **Whose swap is lost** on memcached and MariaDB depends on how the callers share their processor. The simulation changes between them at each call, Linux after milliseconds.

        MD;
}
