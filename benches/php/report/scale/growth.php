<?php
/*
 * The section on what happens when there are more hosts, calls and clients.
 */

const DASHED = ['styles' => '1 1 3 3 2 2 4 4', 'dashes' => '1 2 1 2 1 2 1 2'];

/** A line of each store without leases and a dashed one with them: $y of each of the fleets that keep up, over $x. */
function plot_fleets(string $name, array $fleets, string $x, string $y, float $unit, string $heading, array $variables): void
{
    $titles = $columns = [];
    foreach (FLEET_STORES as $store => [$title]) {
        foreach ([0 => '', 100 => ', lease=100'] as $lease => $with) {
            $titles[] = $title . $with;
            $columns[] = array_column(fleets($fleets, ['store' => $store, 'lease' => $lease, 'keeps_up' => 1]), $y, $x);
        }
    }
    $rows = array_map(fn ($at) => [$at, ...array_map(fn (array $column) => isset($column[$at]) ? $column[$at] / $unit : 'NaN', $columns)], array_unique(array_column($fleets, $x)));
    lines($name, $titles, $rows, $heading, $variables + DASHED, 'fleet');
}

function growth_plots(array $model, array $simulated): void
{
    foreach (['one' => ['one-key', 'One key, 100 hosts'], 'many' => ['many-clients', '10 million clients, 100 hosts']] as $keys => [$name, $heading]) {
        plot_fleets($name, fleets($simulated['rates'], ['keys' => $keys]), 'calls', 'busiest', 0.01, $heading, ['x_label' => 'calls a second', 'y_label' => '% of the busiest server\'s processors', 'x_base' => 10, 'x_format' => '%.0s %c', 'y_format' => '%g']);
    }
    plot_fleets('hosts', $simulated['hosts'], 'hosts', 'p99', 1e6, 'One key, 1,000 calls a second at each host', ['x_label' => 'hosts', 'y_label' => 'ms, 99th percentile', 'x_base' => 10, 'y_format' => '%g']);
    lines('key', ['trips a decision'], array_map(fn (array $fleet) => [$fleet['calls'] / $fleet['hosts'], $fleet['trips']], $simulated['key']), 'lease=100, Redis', ['x_label' => 'calls a second on a key, at each of ten hosts', 'y_label' => 'trips a decision', 'x_base' => 10, 'x_format' => '%g', 'y_format' => '%g'], 'fleet');
    $stores = ['shm', 'redis_tcp', 'redis_cluster', 'memcached_tcp', 'mariadb_unix'];
    $sizes = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    lines('memory', array_map(fn ($store) => explode(',', STORE_TITLES[$store])[0], $stores), array_map(fn (int $size) => [$size, ...array_map(fn ($store) => $size * $model[$store]['client_bytes'], $stores)], $sizes), 'Memory of limited clients', ['x_label' => 'clients', 'y_label' => 'bytes', 'x_base' => 10, 'x_format' => '%.0s %c'], 'fleet');
}

function growth_section(array $simulated): string
{
    return "## More hosts\n\nSimulated: each host makes 1,000 calls a second on one key. The stores keep up with:\n\n" . hosts_text($simulated['hosts'])
        . "\n![the 99th percentile over the number of hosts](hosts.svg)\n"
        . "\n## When leases pay\n\n" . key_text($simulated['key']) . "\n![trips a decision over calls a second on a key](key.svg)\n";
}

/** What becomes of clients when the table in shared memory is full. */
function full_table_section(array $tables): string
{
    $rows = array_map(fn (array $table) => ["`{$table['size']}`", number_format($table['clients']), duration($table['ns']), number_format($table['used']), number_format($table['evictions']), number_format($table['denied_newcomers'])], $tables);
    return "## A full table in shared memory\n\nMeasured; each client is limited, so none may be forgotten:\n\n"
        . table(['`shm_size`', 'clients', 'a call takes', 'buckets in use', 'evicted', 'calls denied because the table was full'], $rows, 'lrrrrr')
        . "\nAn evicted client's debt is not forgotten: a newcomer inherits it ([stores.md](../stores.md#shared-memory)). So a table that is too small denies newcomers, and no client gains. Leave half of the table empty.\n";
}

function client_section(array $fleets): string
{
    $rows = [];
    foreach ([['low', 'a limit of 100, and 10 a second'], ['high', 'a limit that accepts all']] as [$limit, $what]) {
        $with = fn (int $lease, int $clients) => fleets($fleets, ['limit' => $limit, 'lease' => $lease, 'clients' => $clients])[0];
        foreach ([1, 10_000, 1_000_000, 10_000_000] as $clients) {
            [$without, $leases] = [$with(0, $clients), $with(100, $clients)];
            $rows[] = [$what, number_format($clients), percent_of($without['accepted']), percent_of($without['known_denials']), rough($without['trips']), rough($leases['trips']), percent_of($without['busiest']), percent_of($leases['busiest'])];
        }
    }
    return "## More clients\n\nSimulated: Redis, 100 hosts, 50,000 calls a second in all. The more clients share the calls, the fewer are busy on one host, and the less leases save:\n\n"
        . table(['clients have', 'clients', 'accepted', 'denials that the host knows', 'trips a decision', 'with leases', "the server's processor", 'with leases'], $rows, 'lrrrrrrr')
        . "\n![processor time of the servers, 10 million clients](many-clients.svg)\n![memory over the number of clients](memory.svg)\n";
}

/** A simulated share. */
function percent_of(float $part): string
{
    return rough(100 * $part) . ' %';
}

/** How many hosts each store keeps up with. */
function hosts_text(array $hosts): string
{
    $text = '';
    foreach (FLEET_STORES as $store => [$title]) {
        $texts = [];
        foreach ([0 => 'without leases', 100 => 'with leases'] as $lease => $with) {
            [$last, $broken] = breaking_point(fleets($hosts, ['store' => $store, 'lease' => $lease]));
            $times = $last ? ", 99 % of calls within " . duration($last['p99'], rough(...)) . ' and half within ' . duration($last['median'], rough(...)) : '';
            $texts[] = ($last ? "{$last['hosts']} hosts" : 'none') . " $with$times" . ($broken ? ", but not {$broken['hosts']}: " . reason($broken) : '');
        }
        $text .= "- **$title**: " . implode('. ', $texts) . ".\n";
    }
    return $text;
}

/** From when on leases pay. */
function key_text(array $fleets): string
{
    $from = fn (float $trips) => array_values(array_filter($fleets, fn (array $fleet) => $fleet['trips'] < $trips))[0] ?? null;
    $rate = fn (array $fleet) => number_format($fleet['calls'] / $fleet['hosts']);
    $most = max(array_column($fleets, 'trips'));
    [$half, $tenth, $last] = [$from(0.5), $from(0.1), end($fleets)];
    return "Simulated, with `lease=100`: a key that a host is asked for {$rate($half)} times a second takes " . rough($half['trips']) . " trips a decision, at {$rate($tenth)} times " . rough($tenth['trips']) . ", at {$rate($last)} times " . rough($last['trips'])
        . ', at most ' . rough($most) . ": a lease ends after a second, and what is left of it goes back by a trip of its own. A host's own calls count, not the fleet's: with ten times the hosts a key needs ten times the calls. "
        . "Calls that come while a lease's tokens are on their way wait for them.\n";
}
