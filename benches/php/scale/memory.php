<?php
/*
 * The memory that clients take on a server, and what happens when a table in shared memory is full.
 */

require_once dirname(__DIR__, 3) . '/php-tests/base.inc';
require_once __DIR__ . '/client_name.php';

const CLIENTS = 100_000;

/** The bytes a client on a store's servers, of many that are limited: each has a key of about 20 bytes. */
function bytes_per_client(Servers $servers, string $dsn): float
{
    $before = $servers->bytes_kept();
    at_once(2, fn (int $half) => function () use ($dsn, $half): void {
        for ($i = $half; $i < CLIENTS; $i += 2) {
            (new TokenBucket($dsn, client_name($i), 1_000_000, 100))->consume(500_000);
        }
    });
    return ($servers->bytes_kept() - $before) / CLIENTS;
}

/** Tables in shared memory with more and more clients: the time of a call, and what the table says of itself. */
function full_tables(): array
{
    $tables = [];
    foreach (['8M' => [100_000, 250_000, 500_000, 1_000_000], '256M' => [1_000_000, 10_000_000]] as $size => $counts) {
        foreach ($counts as $clients) {
            $folder = getenv('BENCH_TABLES') . '/full';
            mkdir($folder);
            $command = [PHP_BINARY, '-n', '-d', "token_bucket.shm_path=$folder", '-d', "token_bucket.shm_size=$size", '-d', 'extension=' . getenv('BENCH_EXTENSION'), __DIR__ . '/full_table.php', (string) $clients];
            $tables[] = ['size' => $size, 'clients' => $clients] + json_decode(shell_exec(implode(' ', array_map(escapeshellarg(...), $command))), true, flags: JSON_THROW_ON_ERROR);
            remove($folder);
        }
    }
    return $tables;
}
