<?php
/*
 * Runs the tests with Prometheus. Usage: run.php FOLDER ADDRESS, as scripts/test/prometheus.sh does.
 */
declare(strict_types=1);

require dirname(__DIR__, 2) . '/php-tests/check.inc';
require dirname(__DIR__, 2) . '/php-tests/http.inc';
require dirname(__DIR__, 2) . '/php-tests/server.inc';
foreach (['site', 'prometheus', 'docs', 'format', 'numbers', 'dashboard', 'alerts'] as $part) {
    require __DIR__ . "/$part.php";
}

// exit() runs the shutdown functions, which end what was started.
pcntl_async_signals(true);
foreach ([SIGTERM, SIGINT] as $signal) {
    pcntl_signal($signal, fn () => give_up('Ended by a signal'));
}

[, $folder, $address] = $argv;
$rules = dirname(__DIR__, 2) . '/share/alerts.yml';
$docs = new Docs();
$site = new Site((int) substr(strrchr($address, ':'), 1));
$redis = new Server('redis');

file_put_contents("$folder/pages/token_bucket.php", $docs->page());
chmod("$folder/pages/token_bucket.php", 0644);
$prometheus = new Prometheus("$folder/prometheus", $docs->configuration($address, $rules));
check_same('promtool check config', 'passes', promtool(['check', 'config', "$folder/prometheus/prometheus.yml"]));
$killed_at = make_traffic($site, $redis);
foreach ([
    'numbers' => fn () => check_numbers($site, $prometheus, $redis, $killed_at),
    'text format' => fn () => check_format($site, $prometheus),
    'docs/operations.md' => fn () => check_docs($docs, $site),
    'share/grafana.json' => fn () => check_dashboard($site, $prometheus),
    'share/alerts.yml' => fn () => check_alerts($rules, $site, $prometheus),
    'resets, outages and mistakes' => fn () => check_changes($site, $prometheus, $redis, "$folder/limits.ini"),
] as $title => $check) {
    $before = outcomes()['passed'];
    $check();
    printf("%s: %d passed\n", $title, outcomes()['passed'] - $before);
}
