<?php
/*
 * Measures a limiter's cost for a page, end to end: requests a second through nginx and php-fpm, and the workers'
 * processor time for a request.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/lib/web_server.php';

const PAGES = ['none', 'shm', 'apcu_window', 'symfony_apcu', 'symfony_apcu_lock', 'redis_unix', 'redis_tcp', 'redis_unix_window', 'symfony_redis_unix', 'symfony_redis_unix_lock', 'memcached_unix', 'mariadb'];

/** These differ by percents, so each round measures them three times, in turn, and takes the median. */
const CLOSE = ['none', 'shm'];
const SECONDS = 1;
const CONNECTIONS = 4;

mysql_tables();
$server = new WebServer(__DIR__ . '/page');
foreach (PAGES as $page) {
    $answer = $server->get($page);
    str_contains((string) $answer, 'articles</h1>') || throw new RuntimeException("The page with $page: $answer\n{$server->logs()}");
    for ($i = 0; $i < 100; $i++) {
        $server->get($page);
    }
}

$data = ['rounds' => rounds(7), 'seconds' => SECONDS, 'connections' => CONNECTIONS, 'workers' => WebServer::WORKERS, 'bytes' => strlen($server->get('none')), 'pages' => array_fill_keys(PAGES, [])];
for ($round = 0; $round < $data['rounds']; $round++) {
    $passes = [];
    foreach ([...in_turn(PAGES, $round), ...CLOSE, ...CLOSE] as $page) {
        $passes[$page][] = load($server, $page, SECONDS);
    }
    foreach ($passes as $page => $loads) {
        $data['pages'][$page]['requests_a_second'][] = median(array_column($loads, 0));
        $data['pages'][$page]['cpu_ns'][] = median(array_column($loads, 1));
    }
}
keep('page', $data);

/** @return float[] requests a second, and nanoseconds of the workers' processor time for each */
function load(WebServer $server, string $page, int $seconds): array
{
    $script = __DIR__ . '/page/wrk.lua';
    $before = array_sum(array_map(cpu_time(...), $server->workers));
    exec(sprintf('wrk -t 1 -c %d -d %ds -s %s %s 2>&1', CONNECTIONS, $seconds, escapeshellarg($script), escapeshellarg($server->url($page))), $output, $status);
    $cpu = array_sum(array_map(cpu_time(...), $server->workers)) - $before;
    if ($status !== 0 || !preg_match('/^requests (\d+) microseconds (\d+) failed 0$/m', implode("\n", $output), $found)) {
        throw new RuntimeException("wrk on $page: " . implode("\n", $output) . "\n" . $server->logs());
    }
    return [$found[1] / ($found[2] / 1e6), $cpu / $found[1]];
}
