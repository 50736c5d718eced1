<?php
/*
 * One key that the workers of several hosts want at once, as often as they can. Servers have one core, all workers the other. For
 * docs/fleet/tables.md.
 */

require __DIR__ . '/lib/bench.php';
require_once __DIR__ . '/../../php-tests/base.inc';

/** The tokens of a lease. */
const LEASE = 100;

/**
 * The limit, hosts, workers of each, tokens of a lease, the microseconds of a round trip (0 for this machine's own), and how many
 * calls a second all make together (0 for as many as they can).
 */
const HOT_CASES = [
    ['bucket', 1, 1, 0, 0, 0], ['bucket', 1, 50, 0, 0, 0], ['bucket', 2, 10, 0, 0, 0], ['bucket', 2, 50, 0, 0, 0],
    ['bucket', 2, 50, LEASE, 0, 0], ['window', 2, 50, 0, 0, 0], ['window', 2, 50, LEASE, 0, 0],
    ['bucket', 1, 50, 0, 1_000, 500], ['bucket', 1, 50, 0, 1_000, 2_000],
];
const HOT_STORES = ['redis_tcp', 'memcached_tcp', 'mariadb_tcp', 'mysql_tcp'];

foreach (['TB_MARIADB', 'TB_MYSQL'] as $name) {
    (new TokenBucket\MysqlStorage(patient(getenv($name))))->prepare();
}
on_two_cores([phpredis(redis_dsn('tcp'))->info('server')['process_id'], memcached_stats(getenv('TB_MEMCACHED'), 'stats')['pid'], sql_pid('mariadb'), sql_pid('mysql')]);
$cases = [];
foreach (HOT_STORES as $store) {
    foreach (HOT_CASES as [$limit, $hosts, $workers, $lease, $far, $rate]) {
        // On Redis each call is a trip, too many for the proxy that makes a server far.
        if ($far === 0 || $store !== 'redis_tcp') {
            $case = ['store' => $store, 'limit' => $limit, 'hosts' => $hosts, 'workers' => $workers, 'lease' => $lease, 'far' => $far, 'rate' => $rate];
            $cases[] = [...$case, ...hot_key(...$case)];
        }
    }
}
keep('hot_key', ['cases' => $cases]);

/** @return array{calls: int, denied: int, degraded: int, slow: int} of all workers */
function hot_key(string $store, string $limit, int $hosts, int $workers, int $lease, int $far, int $rate): array
{
    $dsn = (string) getenv('TB_' . strtoupper(strstr($store, '_', true)));
    if ($far > 0) {
        [$proxy, $dsn] = far($dsn, $far);
    }
    $dsn .= (str_contains($dsn, '?') ? '&' : '?') . "lease=$lease&timeout_ms=50&connect_timeout_ms=100&on_error=fallback";
    $key = "hot:$limit:$hosts:$workers:$lease:$far:$rate:" . getmypid();
    $processes = [];
    for ($i = 0; $i < $hosts * $workers; $i++) {
        $folder = getenv('BENCH_TABLES') . '/host-' . $i % $hosts;
        is_dir($folder) || mkdir($folder);
        $process = proc_open([PHP_BINARY, '-n', '-d', "token_bucket.shm_path=$folder", '-d', 'extension=' . getenv('BENCH_EXTENSION'), __DIR__ . '/hot_key/worker.php', $dsn, $key, $limit, (string) ($rate / $hosts / $workers)], [['pipe', 'r'], ['pipe', 'w']], $pipes);
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
    if (isset($proxy)) {
        proc_terminate($proxy);
        proc_close($proxy);
    }
    return $sum;
}

/** @return array{resource, string} a proxy that makes the server of a DSN far, on the servers' core, and the DSN by way of it */
function far(string $dsn, int $microseconds): array
{
    $port = free_port();
    preg_match('/127\.0\.0\.1:(\d+)/', $dsn, $found);
    $proxy = proc_open([PHP_BINARY, '-n', __DIR__ . '/hot_key/far_proxy.php', (string) $port, $found[1], (string) $microseconds], [], $pipes);
    on_one_core([proc_get_status($proxy)['pid']], 0);
    wait_until(fn (): bool => (bool) @stream_socket_client("tcp://127.0.0.1:$port"));
    return [$proxy, str_replace($found[0], "127.0.0.1:$port", $dsn)];
}
