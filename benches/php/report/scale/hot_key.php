<?php
/*
 * One key that many workers want at once: what was decided, and by what.
 */

const HOT_NAMES = ['redis_tcp' => 'Redis', 'memcached_tcp' => 'memcached', 'mariadb_tcp' => 'MariaDB', 'mysql_tcp' => 'MySQL'];

/** @param array[] $results of hot_keys() */
function hot_key_section(array $results): string
{
    $seconds = 3;
    $rows = [];
    foreach ($results as ['store' => $store, 'hosts' => $hosts, 'workers' => $workers, 'lease' => $lease, 'calls' => $calls, 'denied' => $denied, 'degraded' => $degraded, 'slow' => $slow]) {
        $share = fn (int $count) => sprintf('%.2f %%', 100 * $count / $calls);
        $rows[] = [HOT_NAMES[$store], "$hosts × $workers" . ($lease > 0 ? ", `lease=$lease`" : ''), number_format(round(($calls - $degraded - $denied) / $seconds, -2)), $share($calls - $degraded - $denied), $share($denied), $share($degraded), $share($slow)];
    }
    return "## One key, many workers\n\n"
        . "Workers that do nothing but ask for one key which is never empty, $seconds seconds each; they share the cores with the servers. Whoever is degraded was decided on by its own host.\n\n"
        . table(['store', 'hosts × workers', 'by the store, a second', 'by the store', 'denied', 'degraded', 'slower than 55 ms'], $rows, 'llrrrrr')
        . "\nOf a host's workers one asks memcached, MariaDB or MySQL for all that wait, so more workers make larger batches, not more trips. The hosts still undo each other's swaps; on MariaDB and MySQL a host locks the row after two lost swaps.\n\n"
        . "The simulations on this page know no batches: where they say that hosts undo each other's swaps, each host decides call by call, as one worker alone does.\n";
}
