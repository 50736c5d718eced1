<?php
/*
 * Measures a decision of the stand-in in plain PHP, beside symfony/rate-limiter with its cache in files and its file lock, in the same
 * folder, and beside the extension. The limiter is made for each call, as in a request, and symfony's factory once, as a container
 * does it.
 */

require __DIR__ . '/lib/bench.php';

const CLIENTS = [1, 10_000];

$folder = getenv('BENCH_TABLES') . '/stand-in';
mkdir($folder);
$with = explode("\n", getenv('BENCH_OPTIONS'));
$without = explode("\n", str_replace("\n-d\nextension=" . getenv('BENCH_EXTENSION'), '', getenv('BENCH_OPTIONS')));
$processes = [];
foreach (['stand_in' => $without, 'symfony' => $without, 'extension' => $with] as $name => $options) {
    mkdir("$folder/$name");
    $settings = ['-d', "token_bucket.shm_path=$folder/$name", '-d', 'error_log=/dev/null'];
    $command = [PHP_BINARY, ...$options, ...$settings, __DIR__ . '/stand_in/process.php', $name, "$folder/$name"];
    $processes[$name] = [proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $pipes), ...$pipes];
}

/** Nanoseconds. */
$measure = function (string $name, int $clients) use ($processes): float {
    [, $input, $output] = $processes[$name];
    fwrite($input, "$clients\n");
    $line = fgets($output);
    return $line === false ? throw new RuntimeException("$name failed") : (float) $line;
};

$data = ['rounds' => rounds(9), 'limiters' => []];
foreach (CLIENTS as $clients) {
    for ($round = 0; $round < $data['rounds']; $round++) {
        foreach (in_turn(array_keys($processes), $round) as $name) {
            $data['limiters'][$name][$clients][] = $measure($name, $clients);
        }
    }
}
keep('stand_in', $data);
