<?php
/*
 * Fills a table in shared memory with clients that are all limited. Prints nanoseconds a call of known clients, and the table's own counts.
 */
[, $clients] = $argv;
$client = fn (int $i): string => 'login:' . long2ip(($i * 0x9E3779B1) & 0xFFFFFFFF);
for ($i = 0; $i < $clients; $i++) {
    (new TokenBucket(null, $client($i), 1_000_000, 100))->consume(500_000);
}
$calls = 100_000;
$known = array_map(fn () => new TokenBucket(null, $client(mt_rand(0, $clients - 1)), 1_000_000, 100), range(1, $calls));
$start = hrtime(true);
foreach ($known as $bucket) {
    $bucket->consume();
}
$took = (hrtime(true) - $start) / $calls;
$table = array_values(array_filter(TokenBucket\status()['tables'], fn (array $table) => $table['holds'] === 'buckets' && $table['name'] === 'default'))[0];
echo json_encode(['ns' => $took] + $table);
