<?php
/*
 * One key that the workers of several hosts want at once, as often as they can. Servers and workers share all cores.
 */

/** Hosts, workers of each, and tokens of a lease. */
const HOT_CASES = [[1, 20, 0], [1, 50, 0], [2, 10, 0], [2, 20, 0], [2, 50, 0], [2, 10, LEASE], [2, 50, LEASE]];
const HOT_STORES = ['redis_tcp', 'memcached_tcp', 'mariadb_tcp', 'mysql_tcp'];

/** What the workers got of each store, in each case. */
function hot_keys(): array
{
    $results = [];
    foreach (HOT_STORES as $store) {
        foreach (HOT_CASES as [$hosts, $workers, $lease]) {
            $results[] = ['store' => $store, 'hosts' => $hosts, 'workers' => $workers, 'lease' => $lease, ...hot_key($store, $hosts, $workers, $lease)];
        }
    }
    return $results;
}

/** @return array{calls: int, denied: int, degraded: int, slow: int} of all workers */
function hot_key(string $store, int $hosts, int $workers, int $lease): array
{
    $dsn = (string) getenv('TB_' . strtoupper(strstr($store, '_', true)));
    $dsn .= (str_contains($dsn, '?') ? '&' : '?') . "lease=$lease&timeout_ms=50&connect_timeout_ms=100&on_error=fallback";
    $key = "hot:$hosts:$workers:$lease:" . getmypid();
    $processes = [];
    for ($i = 0; $i < $hosts * $workers; $i++) {
        $folder = getenv('BENCH_TABLES') . '/host-' . $i % $hosts;
        is_dir($folder) || mkdir($folder);
        $process = proc_open([PHP_BINARY, '-n', '-d', "token_bucket.shm_path=$folder", '-d', 'extension=' . getenv('BENCH_EXTENSION'), __DIR__ . '/hot_key_worker.php', $dsn, $key], [['pipe', 'r'], ['pipe', 'w']], $pipes);
        $processes[] = [$process, ...$pipes];
    }
    foreach ($processes as [, , $output]) {
        fgets($output) === "ready\n" || throw new RuntimeException("A worker has no connection to $store");
    }
    $begin = hrtime(true) + 100_000_000;
    foreach ($processes as [, $input]) {
        fwrite($input, "$begin\n");
    }
    $sum = ['calls' => 0, 'denied' => 0, 'degraded' => 0, 'slow' => 0];
    foreach ($processes as [$process, , $output]) {
        foreach (json_decode(stream_get_contents($output), true, flags: JSON_THROW_ON_ERROR) as $name => $count) {
            $sum[$name] += $count;
        }
        proc_close($process);
    }
    return $sum;
}
