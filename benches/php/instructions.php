<?php
/*
 * Counts the instructions of one request of the page in php-cgi, with valgrind, which counts user space only. The
 * difference between few and many requests in one process leaves out its start and end. The counts repeat, except for
 * what servers' replies change.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/lib/web_server.php';

const FEW = 20;
const MANY = 60;
const COUNTED = ['without the extension', 'none', 'shm', 'apcu_window', 'symfony_apcu', 'symfony_apcu_lock', 'redis_unix', 'redis_tcp', 'redis_unix_window', 'symfony_redis_unix', 'symfony_redis_unix_lock', 'memcached_unix', 'mariadb'];

mysql_tables();
$data = ['requests' => MANY - FEW, 'pages' => []];
foreach (COUNTED as $page) {
    $data['pages'][$page] = (instructions($page, MANY) - instructions($page, FEW)) / (MANY - FEW);
}
keep('instructions', $data);

function instructions(string $page, int $requests): int
{
    $loaded = $page !== 'without the extension';
    $command = [
        'valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null',
        'php-cgi', '-n', ...WebServer::extensions(...($loaded ? [getenv('BENCH_EXTENSION')] : [])),
        // valgrind cannot run the code that PCRE compiles.
        '-d', 'zend_extension=opcache', '-d', 'opcache.enable=1', '-d', 'pcre.jit=0', '-d', 'apc.enabled=1', '-d', 'error_reporting=' . (E_ALL & ~E_DEPRECATED),
        '-d', 'token_bucket.shm_path=' . getenv('BENCH_TABLES'), '-d', 'token_bucket.timeout_ms=5000', '-d', 'token_bucket.connect_timeout_ms=5000', '-d', 'token_bucket.on_error=throw',
        '-T', $requests, __DIR__ . '/page/index.php', 'limiter=' . ($loaded ? $page : 'none'),
    ];
    $process = proc_open(array_map(strval(...), $command), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['pipe', 'w']], $pipes);
    $told = stream_get_contents($pipes[2]);
    if (proc_close($process) !== 0 || !preg_match('/I +refs: +([\d,]+)/', $told, $found)) {
        throw new RuntimeException("valgrind php-cgi with $page: $told");
    }
    return (int) str_replace(',', '', $found[1]);
}
