<?php
/*
 * Runs the tests with Prometheus. Usage: run.php FOLDER ADDRESS, as scripts/test/prometheus.sh does.
 */
declare(strict_types=1);

require dirname(__DIR__, 2) . '/php-tests/servers.inc';
foreach (['report', 'promtool', 'site', 'prometheus', 'docs', 'format', 'numbers', 'dashboard', 'alerts'] as $part) {
    require __DIR__ . "/$part.php";
}

// exit() runs the shutdown functions, which end what was started.
pcntl_async_signals(true);
pcntl_signal(SIGTERM, fn () => exit(143));
pcntl_signal(SIGINT, fn () => exit(130));

[, $folder, $address] = $argv;
$rules = dirname(__DIR__, 2) . '/share/alerts.yml';
$report = new Report();
$docs = new Docs();
$site = new Site($address);
$redis = new Server('redis');

file_put_contents("$folder/pages/token_bucket.php", $docs->page());
chmod("$folder/pages/token_bucket.php", 0644);
$configuration = $docs->configuration($address, $rules);
$prometheus = new Prometheus("$folder/prometheus", $configuration);
$report->expect('promtool check config', 'passes', promtool(['check', 'config', "$folder/prometheus/prometheus.yml"]));
$killed_at = make_traffic($report, $site, $redis);
check_numbers($report, $site, $prometheus, $redis, $killed_at);
$report->end_part('numbers');
check_format($report, $site, $prometheus);
$report->end_part('text format');
check_docs($report, $docs, $site);
$report->end_part('docs/operations.md');
check_dashboard($report, $site, $prometheus);
$report->end_part('share/grafana.json');
check_alerts($report, $rules, $site, $prometheus);
$report->end_part('share/alerts.yml');
check_changes($report, $site, $prometheus, $redis, "$folder/limits.ini");
$report->end_part('resets, outages and mistakes');
exit($report->end() ? 0 : 1);
