<?php
/*
 * Fills a table in shared memory with clients that are all limited. Prints nanoseconds a call of known clients, and the table's own counts.
 */
require __DIR__ . '/client_name.php';

[, $clients] = $argv;
for ($i = 0; $i < $clients; $i++) {
    (new TokenBucket(null, client_name($i), 1_000_000, 100))->consume(500_000);
}
$calls = 100_000;
$known = array_map(fn () => new TokenBucket(null, client_name(mt_rand(0, $clients - 1)), 1_000_000, 100), range(1, $calls));
$start = hrtime(true);
foreach ($known as $bucket) {
    $bucket->consume();
}
$took = (hrtime(true) - $start) / $calls;
$table = array_values(array_filter(TokenBucket\status()['tables'], fn (array $table) => $table['holds'] === 'buckets' && $table['name'] === 'default'))[0];
echo json_encode(['ns' => $took] + $table);
