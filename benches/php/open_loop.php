<?php
/*
 * Measures latency in an open loop: calls begin at a fixed rate, whether or not those before have ended, and a call's time runs from
 * when it should have begun, so that a late one counts for all that it delays. Redis' limiters have a process each in turn; the page
 * has as many connections as it takes.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/lib/web_server.php';
require __DIR__ . '/open_loop/http_client.php';

// Less than the slowest limiter can do on an idle machine: at more, times grow as long as it is measured.
const CALLS_A_SECOND = 1_000;
const REQUESTS_A_SECOND = 400;
const SECONDS = 1;
const LIMITERS = ['redis_unix', 'redis_unix_window', 'redis_unix_gcra', 'symfony_redis_unix', 'symfony_redis_unix_lock'];
const PAGES = ['none', 'shm', 'symfony_apcu', 'redis_unix', 'redis_unix_window', 'symfony_redis_unix', 'symfony_redis_unix_lock'];

$rounds = rounds(5);
$data = [
    'rounds' => $rounds, 'seconds' => SECONDS,
    'redis' => ['rate' => CALLS_A_SECOND, 'times' => array_fill_keys(LIMITERS, [])],
    'page' => ['rate' => REQUESTS_A_SECOND, 'times' => array_fill_keys(PAGES, [])],
];

$client = new HttpClient(new WebServer(__DIR__ . '/page'));
foreach (PAGES as $page) {
    $client->measure($page, REQUESTS_A_SECOND, 100);
}
for ($round = 0; $round < $rounds; $round++) {
    foreach (in_turn(PAGES, $round) as $page) {
        array_push($data['page']['times'][$page], ...$client->measure($page, REQUESTS_A_SECOND, SECONDS * REQUESTS_A_SECOND));
    }
}

on_two_cores(server_pids());
$cases = array_map(fn (string $name) => (limiters()[$name]->open)('open', CAPACITY, RATE), array_combine(LIMITERS, LIMITERS));
for ($round = 0; $round < $rounds; $round++) {
    foreach (in_turn(LIMITERS, $round) as $name) {
        array_push($data['redis']['times'][$name], ...at_rate($cases[$name], CALLS_A_SECOND, SECONDS * CALLS_A_SECOND));
    }
}
keep('open_loop', $data);

/** @return int[] nanoseconds of each call, from when it should have begun */
function at_rate(Closure $tries, int $rate, int $calls): array
{
    $tries(100);
    $times = [];
    $begin = hrtime(true) + 1_000_000;
    for ($i = 0; $i < $calls; $i++) {
        $due = $begin + intdiv($i * 1_000_000_000, $rate);
        // A process that sleeps wakes up too late: it has a core for itself, so it may wait busily.
        while (hrtime(true) < $due) {
        }
        $tries(1);
        $times[] = hrtime(true) - $due;
    }
    return $times;
}
