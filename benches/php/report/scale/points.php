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
    [$within, $all] = deviations($points, $simulated);
    return "## Does the simulation come to what was measured?\n\nDecisions a second of one, two and four hosts of one process each, with tables of their own, that ask one server as often as they can: "
        . "$within of $all are within 20 % ([the table](tables.md#measured-and-simulated)). The simulation knows the costs above, none of these numbers. Where they are further apart:\n\n" . <<<'MD'
        - **memcached has four threads, MariaDB one for each connection.** With more hosts more of them sleep while others work, and a decision costs the server more. In the simulation any thread that is awake does what is
          left on a processor: it is too good by this much for a server of which each thread has little to do.
        - **Quiet keys with leases** are called about once a second by each host here, where a lease is just worth it: a fleet that is a little faster has leases, one that is slower has none.
        - **Whose swap is lost** depends on how the callers share their processor. The simulation changes between them at each call, Linux after milliseconds. In it one host swaps
          call after call, each with the state that the last one handed off, while others lose: on memcached with several hosts it makes fewer trips than were measured.

        MD;
}

function point_table(array $points, array $simulated): string
{
    $rows = $of_four = [];
    foreach ($points as $point) {
        $name = "{$point['store']} {$point['keys']} {$point['lease']}";
        $simulation = simulation_of($point, $simulated);
        $rows[$name] ??= [STORE_TITLES[$point['store']], ($point['keys'] === 'hot' ? 'one busy key' : '10,000 quiet keys') . ($point['lease'] ? ', leases' : '')];
        $difference = deviation($point, $simulation);
        $text = sprintf('%+.0f %%', 100 * $difference);
        $rows[$name][1 + $point['hosts']] = number_format(median($point['decisions'])) . ' (' . (abs($difference) > 0.2 ? "**$text**" : $text) . ')';
        $of_four[$name] = [
            digits(median($point['trips'])) . ' / ' . rough($simulation['trips']),
            duration(median($point['cpu'])) . ' / ' . duration($simulation['cpu'], rough(...)),
        ];
    }
    foreach ($rows as $name => &$row) {
        ksort($row);
        array_push($row, ...$of_four[$name]);
    }
    return "## Measured and simulated\n\nDecisions a second as measured (by how much the simulation has more or fewer); then measured / simulated.\n\n"
        . table(['store', 'calls on', '1 host', '2 hosts', '4 hosts', '4: trips a decision', "4: the server's processor"], array_map(array_values(...), $rows), 'llrrrrr');
}
