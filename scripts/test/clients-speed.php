<?php
declare(strict_types=1);

/* For clients-speed.sh: reads the limits, and calls one of them for clients with and without a line. */

use function TokenBucket\{client_terms, limiter};

/** What this process has in memory of its own, in bytes. */
function own_memory(): int
{
    preg_match('~^Private_Dirty: +(\d+)~m', (string) file_get_contents('/proc/self/smaps_rollup'), $match);
    return 1_024 * (int) $match[1];
}

$name = $argv[1];
$before = own_memory();
$begin = hrtime(true);
limiter('plain', 'x')->consume();
printf("%-10s read in %.1f ms, %.1f MiB\n", $name, (hrtime(true) - $begin) / 1e6, (own_memory() - $before) / 1_048_576);
if ($name === 'customers') {
    foreach (['no line' => '192.0.2.1', 'name' => 'customer 4711', 'network' => '10.0.16.9', 'exempt' => 'customer 100'] as $what => $client) {
        $times = [];
        for ($round = 0; $round < 9; $round++) {
            $begin = hrtime(true);
            for ($i = 0; $i < 20_000; $i++) {
                limiter($name, $client);
            }
            $times[] = (hrtime(true) - $begin) / 20_000;
        }
        printf("    %-8s limiter() takes %3.0f ns; %s\n", $what, min($times), json_encode(array_slice(client_terms($name, $client) ?? [], 2)));
    }
}
