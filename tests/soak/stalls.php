<?php
/*
 * Makes a Redis silent for a while, again and again, as a fork for a snapshot or a script of others does.
 * Usage: stalls.php PORT SHORTEST_MS LONGEST_MS EVERY_MS
 */
[, $port, $shortest, $longest, $every] = array_map(intval(...), $argv);
$redis = fsockopen('127.0.0.1', $port);
for (;;) {
    usleep(1_000 * $every);
    fwrite($redis, 'DEBUG SLEEP ' . mt_rand($shortest, $longest) / 1_000 . "\r\n");
    fgets($redis) !== false || exit(1);
}
