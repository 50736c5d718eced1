<?php
/*
 * What to do, each with the numbers that show it; and the processes on one bucket in shared memory.
 */

function advice_section(array $simulated): string
{
    $rates = $simulated['rates'];
    $at = fn (string $store, string $keys, int $lease, float $calls) => fleets($rates, ['store' => $store, 'keys' => $keys, 'lease' => $lease, 'calls' => $calls])[0];
    $most = fn (string $store, string $keys, int $lease) => number_format(breaking_point(fleets($rates, ['store' => $store, 'keys' => $keys, 'lease' => $lease]))[0]['calls'] ?? 0);
    $one = $at('redis', 'one', 0, 2e4);
    $leased = $at('redis', 'one', 100, 2e4);
    $flood = fn (string $store, int $cache) => fleets($simulated['flood'], ['store' => $store, 'deny_cache' => $cache])[0];
    $split = array_map(fn (array $fleet) => [number_format($fleet['limit']), number_format($fleet['hosts']), digits($fleet['limit'] / $fleet['hosts']), percent_of($fleet['accepted'])], $simulated['split']);
    $rows = [
        ['a busy key', '[`lease=100`](stores.md#leases)', 'Redis, 20,000 calls a second on one key: ' . digits($one['trips']) . ' trips a decision become ' . digits($leased['trips']) . ', ' . percent_of($one['busiest']) . ' of the server ' . percent_of($leased['busiest'])],
        ['a busy key', 'not a cluster', "the key stays on one node: {$most('cluster', 'one', 0)} calls a second, {$most('redis', 'one', 0)} on a single Redis"],
        ['many clients', 'a cluster, clients spread over its nodes', "{$most('cluster', 'many', 0)} calls a second on six nodes, {$most('redis', 'many', 0)} on a single Redis. A [hash tag](stores.md#one-slot-of-a-redis-cluster) of each client keeps them spread; one tag for all makes one busy node"],
        ['clients that hammer', 'leave `token_bucket.deny_cache` on', '1,000 calls a second of a client that may make 10, at ten hosts: ' . digits($flood('redis', 0)['trips']) . ' trips a call without it, ' . digits($flood('redis', 1)['trips']) . ' with it; memcached ' . digits($flood('memcached', 0)['trips']) . ' and ' . digits($flood('memcached', 1)['trips'])],
        ['a limit that need not be exact', '`shm:` with the limit divided by the hosts', 'no server is needed; the table below says what that costs'],
        ['a busy key on memcached or MariaDB', 'Redis', "without a lease {$most('memcached', 'one', 0)} and {$most('mariadb', 'one', 0)} calls a second, with one {$most('memcached', 'one', 100)} and {$most('mariadb', 'one', 100)}. With more, most calls wait for others' swaps, and so does the call that fetches a batch"],
        ['a fleet that starts all at once', 'give it calls little by little', '100 hosts with 5,000 calls a second each on one key, `lease=100`, Redis: ' . start_text($simulated['start'], 'redis')],
    ];
    return "## What to do\n\n" . table(['where it is', 'do', 'shown by (simulated)'], $rows, 'lll')
        . "\nA limit that is divided among hosts denies calls although the fleet is below the limit, for hosts do not get the same calls at the same time. Accepted of calls at 80 % of the limit, each host with a second's tokens:\n\n"
        . table(['limit a second', 'hosts', 'for each host', 'accepted'], $split, 'rrrr');
}

/** How a fleet does that begins at once, and within some seconds. */
function start_text(array $starts, string $store): string
{
    return implode(', ', array_map(
        fn (float $ramp) => ($ramp > 0 ? "within $ramp s " : 'at once ') . (fleets($starts, ['store' => $store, 'ramp' => $ramp])[0]['keeps_up'] ? 'it keeps up' : 'it does not keep up'),
        [0, 3],
    ));
}

/** Measured by hand in one run, not by the program. */
function process_section(): string
{
    return <<<'MD'
        ## Several processes on one bucket in shared memory

        Millions of decisions a second on two cores, measured once, by hand, in one run; `scripts/bench.sh throughput` measures the rows of the extension again:

        | | |
        |---|---:|
        | one process | 20.0 |
        | two processes, a bucket each | 38.0 |
        | two processes, one bucket | 14.5 to 15.1 |
        | four processes, one bucket | 15.1 |
        | a C loop of two threads: a clock reading and `cmpxchg16b` on one word | 15.8 |
        | a C loop of two threads: a clock reading and `lock xadd` on one word | 16.7 |

        - **The floor is the cache line's way between the cores**, about 65 ns: what any counter in shared memory pays that two cores change in turn.
        - **Nothing else is shared**: two buckets do 1.9 times one's decisions, whether or not they are of one limit, so neither statistics nor neighbours in the table share lines.
        - **No pause helps**: 1, 4 or 16 `pause` after a lost swap gave 14.9, 14.9 and 14.8; `prefetchw` before the read 15.1. So nothing was changed.
        - **Two busy buckets in one set** of the smallest table (64K) disturb each other: median 56 ns, up to 260. At the default of 8M the chance is 1 in 65,000 for two given buckets.

        MD;
}
