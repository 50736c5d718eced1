<?php
/*
 * One key that many workers want at once: what was decided, and by what.
 */

const HOT_NAMES = ['redis_tcp' => 'Redis', 'memcached_tcp' => 'memcached', 'mariadb_tcp' => 'MariaDB', 'mysql_tcp' => 'MySQL'];

/** @param array[] $results of hot_keys() */
function hot_key_section(array $results): string
{
    return hot_key_table($results)
        . "\n- **A host's workers ask** memcached, MariaDB or MySQL one at a time, so one host decides on one key at most once a round trip; with a lease that is once for each batch of tokens. The hosts still undo each other's swaps; on MariaDB and MySQL a host locks the row after two lost swaps.\n"
        . "- **Many hosts are harder than many workers**: of all hosts one swaps at a time. Where this page says that hosts undo each other's swaps, some calls find no time for theirs within 50 ms. On memcached, which has no locks, a host may also swap again and again and keep others from it.\n";
}

function hot_key_table(array $results): string
{
    return "## One key, many workers\n\n"
        . "Measured: workers that do nothing but ask for one key which is never empty, in the second and third second; all of them share one core, and the servers have the other. A call that is degraded was decided by its own host.\n\n"
        . hot_key_rows($results);
}

function hot_key_rows(array $results): string
{
    $seconds = 2;
    $rows = [];
    foreach ($results as $result) {
        ['store' => $store, 'limit' => $limit, 'hosts' => $hosts, 'workers' => $workers, 'lease' => $lease, 'far' => $far, 'rate' => $rate] = $result;
        $share = fn (int $count) => sprintf('%.2f %%', 100 * $count / $result['calls']);
        $case = "$limit, $hosts × $workers" . ($lease > 0 ? ", `lease=$lease`" : '') . ($far > 0 ? ', ' . $far / 1_000 . ' ms away' : '') . ($rate > 0 ? ", $rate a second" : '');
        $decided = by_the_store($result);
        $rows[] = [HOT_NAMES[$store], $case, number_format(round($decided / $seconds, -2)), $share($decided), $share($result['denied']), $share($result['degraded']), $share($result['slow'])];
    }
    return table(['store', 'limit, hosts × workers', 'by the store, a second', 'by the store', 'denied', 'degraded', 'slower than 55 ms'], $rows, 'llrrrrr');
}

/** How many calls the store decided on as it should: none is to be denied. */
function by_the_store(array $result): int
{
    return $result['calls'] - $result['degraded'] - $result['denied'];
}
