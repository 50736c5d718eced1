<?php
/*
 * The text format: promtool accepts it, whatever limits and servers are called.
 */
declare(strict_types=1);

/** Names of limits that a text format may stumble over, and how Prometheus has to read each. */
const ODD_NAMES = [
    "q\"uote b\\ackslash n\newline" => "q\"uote b\\ackslash n\newline",
    'ends in \\' => 'ends in \\',
    '\\"' => '\\"',
    'Grüße, 東京 🐘' => 'Grüße, 東京 🐘',
    "return\r null\0 escape\e line\u{2028}" => "return\r null\0 escape\e line\u{2028}",
    '"} 1' => '"} 1',
    "\n# TYPE token_bucket_info counter\n" => "\n# TYPE token_bucket_info counter\n",
    // Labels are UTF-8: what is not is replaced.
    "not UTF-8: \xff" => 'not UTF-8: \xff',
    '' => '',
];

/** @return array<string, string> the types of the metrics in a text */
function metric_types(string $text): array
{
    preg_match_all('/^# TYPE (\S+) (\w+)$/m', $text, $found);
    return array_combine($found[1], $found[2]);
}

function check_format(Site $site, Prometheus $prometheus): void
{
    foreach (array_keys(ODD_NAMES) as $name) {
        $site->get('traffic.php', ['name' => $name, 'dsn' => 'shm:odd', 'limit' => 1]);
    }
    $text = $site->get('permit.php');
    foreach (['limit="login"', 'limit="q\"uote b\\\\ackslash n\newline"', 'token_bucket_server_up{server="memcached at 127.0.0.1:',
        'token_bucket_table_used_slots{table="default",kind="permits"} 1', 'token_bucket_limits_file_valid 1'] as $part) {
        check_same("the metrics have $part", true, str_contains($text, $part));
    }
    check_same('promtool check metrics', 'passes', promtool(['check', 'metrics'], $text));

    foreach (ODD_NAMES as $label) {
        $selector = 'token_bucket_checks_total{prefix="tb:", limit=' . promql_string($label) . '}';
        check_same("the limit is found by its name: $selector", 1.0, $prometheus->await($selector, 1.0));
    }
    check_same('no metric has become another one', metric_types($text), metric_types($site->get('permit.php')));
    $types = array_map(fn (array $metadata): string => $metadata[0]['type'], $prometheus->ask('metadata')['data']);
    check_same('Prometheus knows the types', [], array_diff_assoc(metric_types($text), $types));
}

/** A string literal of PromQL, which refuses U+FFFD itself. */
function promql_string(string $text): string
{
    return '"' . strtr($text, ['\\' => '\\\\', '"' => '\"', "\n" => '\n', "\r" => '\r', "\0" => '\x00', "\e" => '\x1b']) . '"';
}
