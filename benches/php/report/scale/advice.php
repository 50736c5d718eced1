<?php
/*
 * What to do, each with the simulated numbers that show it; and the processes on one bucket in shared memory.
 */

function advice_section(array $simulated): string
{
    $rates = $simulated['rates'];
    $at = fn (string $store, string $keys, int $lease, float $calls) => fleets($rates, ['store' => $store, 'keys' => $keys, 'lease' => $lease, 'calls' => $calls])[0];
    $most = fn (string $store, string $keys, int $lease) => number_format(breaking_point(fleets($rates, ['store' => $store, 'keys' => $keys, 'lease' => $lease]))[0]['calls'] ?? 0);
    $one = $at('redis', 'one', 0, 2e4);
    $leased = $at('redis', 'one', 100, 2e4);
    $flood = fn (string $store, int $cache) => fleets($simulated['flood'], ['store' => $store, 'deny_cache' => $cache])[0];
    $rows = [
        ['a busy key', '`lease=100`', 'Redis, 20,000 calls a second on one key: trips a decision ' . rough($one['trips']) . ' and ' . rough($leased['trips']) . ', of the server\'s processor ' . percent_of($one['busiest']) . ' and ' . percent_of($leased['busiest'])],
        ['a busy key', 'not a cluster', "the key stays on one node: {$most('cluster', 'one', 0)} calls a second, {$most('redis', 'one', 0)} on a single Redis"],
        ['many clients', 'a cluster, clients spread over its nodes', "{$most('cluster', 'many', 0)} calls a second on six nodes, {$most('redis', 'many', 0)} on a single Redis. A [hash tag](../stores.md#one-slot-of-a-redis-cluster) of each client keeps them spread; one tag for all makes one busy node"],
        ['clients that hammer', 'leave `token_bucket.deny_cache` on', '1,000 calls a second of a client that may make 10, at ten hosts, trips a call without it and with it: ' . rough($flood('redis', 0)['trips']) . ' and ' . rough($flood('redis', 1)['trips']) . '; memcached ' . rough($flood('memcached', 0)['trips']) . ' and ' . rough($flood('memcached', 1)['trips'])],
        ['a limit that need not be exact', '`shm:` with the limit divided by the hosts', 'no server is needed; [what that costs](#a-limit-divided-among-hosts)'],
        ['a busy key on memcached or MariaDB', 'Redis', "without a lease {$most('memcached', 'one', 0)} and {$most('mariadb', 'one', 0)} calls a second, with one {$most('memcached', 'one', 100)} and {$most('mariadb', 'one', 100)}. With more, hosts undo each other's swaps until some calls cannot be decided in their time"],
        ['a fleet that starts all at once, on memcached or MariaDB', 'give it calls little by little', '100 hosts with 200 calls a second each on one key, `lease=100`; late or not decided in their time in the first four seconds: ' . start_text($simulated['start'])],
    ];
    return "## What to do\n\n" . table(['where it is', 'do', 'shown by (simulated)'], $rows, 'lll');
}

function split_section(array $fleets): string
{
    $rows = array_map(fn (array $fleet) => [number_format($fleet['limit']), number_format($fleet['hosts']), digits($fleet['limit'] / $fleet['hosts']), percent_of(1 - $fleet['accepted'])], $fleets);
    return "## A limit divided among hosts\n\nIt denies calls although the fleet is below the limit, for hosts do not get the same calls at the same time. Simulated: denied of calls at 80 % of the limit, each host with a second's tokens:\n\n"
        . table(['limit a second', 'hosts', 'for each host', 'denied'], $rows, 'rrrr');
}

/** How a fleet does that begins at once, and within some seconds. */
function start_text(array $starts): string
{
    $share = function (string $store, float $ramp) use ($starts): string {
        $fleet = fleets($starts, ['store' => $store, 'ramp' => $ramp])[0];
        return percent_of($fleet['busy'] + $fleet['late']);
    };
    return implode('; ', array_map(fn (string $store) => FLEET_STORES[$store][0] . " {$share($store, 0)} if all calls come at once, {$share($store, 3)} if they become as many within 3 s", ['memcached', 'mariadb']));
}

/** What several processes do on one bucket, beside the least that they would have to do. */
function process_section(array $measured, array $one_word): string
{
    $millions = fn (float $decisions): string => digits($decisions / 1e6);
    $best = array_map(max(...), $measured);
    $rows = array_map(fn (string $case): array => [$case, $millions($best[$case])], array_keys($best));
    foreach (['add' => 'the clock and an atomic addition to one word', 'swap' => 'the clock, a look at one word and an atomic swap'] as $change => $title) {
        foreach ($one_word as $threads => $changes) {
            $rows[] = [($threads > 1 ? "$threads threads" : 'a thread') . " in Rust: $title", $millions($changes[$change])];
        }
    }
    $each = ratio($best['two processes, a bucket each'] / $best['one process']);
    return "## Several processes on one bucket in shared memory\n\nMeasured: millions of decisions a second, the best of all rounds; the threads in Rust are `cargo bench --bench one_word`.\n\n"
        . table(['', ''], $rows, 'lr') . "\n"
        . "- **The floor is the cache line's way between the cores**: what any word in shared memory costs that two cores change in turn.\n"
        . "- **Nothing else is shared**: two processes with a bucket each make $each the decisions of one, under one limit, so its statistics do not share lines either.\n"
        . '- **Tried once, without effect**: 1, 4 or 16 `pause` after a lost swap, and `prefetchw` before the look.' . "\n";
}
