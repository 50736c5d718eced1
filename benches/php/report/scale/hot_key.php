<?php
/*
 * One key that many workers want at once: what was decided, and by what.
 */

const HOT_NAMES = ['redis_tcp' => 'Redis', 'memcached_tcp' => 'memcached', 'mariadb_tcp' => 'MariaDB', 'mysql_tcp' => 'MySQL'];

/** @param array[] $results of hot_keys() */
function hot_key_section(array $results): string
{
    $widest = array_filter($results, fn (array $result) => $result['hosts'] === 2 && $result['workers'] === 50);
    $far = array_filter($results, fn (array $result) => $result['far'] > 0);
    // Rounded down, for it is a least.
    $least = sprintf('%.1f', floor(1_000 * min(array_map(fn (array $result) => by_the_store($result) / $result['calls'], $far))) / 10);
    $denied = array_sum(array_column($far, 'denied'));
    return "## One key, many workers\n\n"
        . "Workers that do nothing but ask for one key which is never empty, 3 seconds each; all of them share one core, and the servers have the other. A call that is degraded was decided by its own host. Two hosts of 50; "
        . "[fewer workers, and servers that are far](scaling/tables.md#one-key-many-workers):\n\n"
        . hot_key_rows($widest)
        . "\n- **Of a host's workers one** asks memcached, MariaDB or MySQL for all that wait, so more workers make larger batches, not more trips. The hosts still undo each other's swaps; on MariaDB and MySQL a host locks the row after two lost swaps.\n"
        . "- **With a round trip of 1 ms and of 4 ms**, one host of 20 and of 50 workers: at least $least % by memcached, MariaDB or MySQL, and " . ($denied > 0 ? number_format($denied) : 'none') . " denied.\n"
        . "- **Many hosts are harder than many workers**: of all hosts one swaps at a time. The simulations on this page have batches, too; where they say that hosts undo each other's swaps, a host's batch finds no turn within 50 ms. On memcached, which has no locks, a host may also swap batch after batch and keep others from it.\n";
}

function hot_key_table(array $results): string
{
    return "## One key, many workers\n\n" . hot_key_rows($results);
}

function hot_key_rows(array $results): string
{
    $seconds = 3;
    $rows = [];
    foreach ($results as $result) {
        ['store' => $store, 'hosts' => $hosts, 'workers' => $workers, 'lease' => $lease, 'far' => $far] = $result;
        $share = fn (int $count) => sprintf('%.2f %%', 100 * $count / $result['calls']);
        $case = "$hosts × $workers" . ($lease > 0 ? ", `lease=$lease`" : '') . ($far > 0 ? ', ' . $far / 1_000 . ' ms away' : '');
        $decided = by_the_store($result);
        $rows[] = [HOT_NAMES[$store], $case, number_format(round($decided / $seconds, -2)), $share($decided), $share($result['denied']), $share($result['degraded']), $share($result['slow'])];
    }
    return table(['store', 'hosts × workers', 'by the store, a second', 'by the store', 'denied', 'degraded', 'slower than 55 ms'], $rows, 'llrrrrr');
}

/** How many calls the store decided on as it should: none is to be denied. */
function by_the_store(array $result): int
{
    return $result['calls'] - $result['degraded'] - $result['denied'];
}
