<?php
/*
 * share/alerts.yml: promtool's tests of when each alert fires, and what the running Prometheus makes of them.
 */
declare(strict_types=1);

function check_alerts(string $rules, Site $site, Prometheus $prometheus): void
{
    check_same('promtool check rules', 'passes', promtool(['check', 'rules', $rules]));
    check_same('promtool test rules', 'passes', promtool(['test', 'rules', __DIR__ . '/alerts_test.yml']));

    comes_true(fn (): bool => !in_array('unknown', array_column(alert_rules($prometheus), 'health'), true), 20);
    $known = array_keys(metric_types($site->get('token_bucket.php')));
    $alerts = alert_rules($prometheus);
    check_same('Prometheus has the rules', substr_count(file_get_contents($rules), '- alert:'), count($alerts));
    foreach ($alerts as $alert) {
        check_same("$alert[name] can be evaluated", 'ok', $alert['health']);
        check_same("$alert[name] names only metrics of prometheus()", [], array_values(array_diff(metrics_in($alert['query']), $known)));
    }
    // The server is down, but not for as long as the alert waits.
    comes_true(fn (): bool => alert_state($prometheus, 'TokenBucketServerDown') === 'pending', 20);
    check_same('TokenBucketServerDown waits while the server is down', 'pending', alert_state($prometheus, 'TokenBucketServerDown'));
    check_same('TokenBucketLimitsFileInvalid does not, for the file is valid', 'inactive', alert_state($prometheus, 'TokenBucketLimitsFileInvalid'));
}

/** @return list<array{name: string, query: string, health: string, state: string}> */
function alert_rules(Prometheus $prometheus): array
{
    return $prometheus->ask('rules')['data']['groups'][0]['rules'] ?? [];
}

function alert_state(Prometheus $prometheus, string $name): string
{
    return array_column(alert_rules($prometheus), 'state', 'name')[$name] ?? 'no such alert';
}
