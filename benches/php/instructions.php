<?php
/*
 * Counts the instructions of one request of the page in php-cgi, with valgrind, which counts user space only. The
 * difference between few and many requests in one process leaves out its start and end. The counts repeat, except for
 * what servers' replies change.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/lib/web_server.php';

define('FEW', getenv('QUICK') ? 5 : 20);
define('MANY', FEW + (getenv('QUICK') ? 10 : 40));
const COUNTED = ['without the extension', 'none', 'shm', 'apcu_window', 'symfony_apcu', 'symfony_apcu_lock', 'redis_unix', 'redis_tcp', 'redis_unix_window', 'symfony_redis_unix', 'symfony_redis_unix_lock', 'memcached_unix', 'mariadb'];

mysql_tables();
$data = ['requests' => MANY - FEW, 'pages' => []];
foreach (COUNTED as $page) {
    // Two at a time, which no count depends on: each has a client of its own.
    $few = begin($page, FEW, '127.0.0.1');
    $many = begin($page, MANY, '127.0.0.2');
    $data['pages'][$page] = (instructions(...$many) - instructions(...$few)) / (MANY - FEW);
}
keep('instructions', $data);

/** @return array{string, resource, resource} the page, a process and its output */
function begin(string $page, int $requests, string $client): array
{
    $loaded = $page !== 'without the extension';
    $command = [
        'valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null',
        'php-cgi', '-n', ...array_map(fn (string $name): string => "-dextension=$name", [...WebServer::EXTENSIONS, ...($loaded ? [getenv('BENCH_EXTENSION')] : [])]),
        // valgrind cannot run the code that PCRE compiles.
        '-d', 'zend_extension=opcache', '-d', 'opcache.enable=1', '-d', 'pcre.jit=0', '-d', 'apc.enabled=1', '-d', 'error_reporting=' . (E_ALL & ~E_DEPRECATED),
        '-d', 'token_bucket.shm_path=' . getenv('BENCH_TABLES'), '-d', 'token_bucket.timeout_ms=5000', '-d', 'token_bucket.connect_timeout_ms=5000', '-d', 'token_bucket.on_error=throw',
        '-T', $requests, __DIR__ . '/page/index.php', 'limiter=' . ($loaded ? $page : 'none'),
    ];
    $process = proc_open(array_map(strval(...), $command), [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['pipe', 'w']], $pipes, null, ['REMOTE_ADDR' => $client] + getenv());
    return [$page, $process, $pipes[2]];
}

/**
 * @param resource $process
 * @param resource $output
 */
function instructions(string $page, $process, $output): int
{
    $told = stream_get_contents($output);
    if (proc_close($process) !== 0 || !preg_match('/I +refs: +([\d,]+)/', $told, $found)) {
        throw new RuntimeException("valgrind php-cgi with $page: $told");
    }
    return (int) str_replace(',', '', $found[1]);
}
