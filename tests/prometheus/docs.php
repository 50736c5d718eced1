<?php
/*
 * "Prometheus" in docs/operations.md: the page and the configuration that it shows, and its table of metrics.
 */
declare(strict_types=1);

final class Docs
{
    private readonly string $text;

    public function __construct()
    {
        $page = file_get_contents(dirname(__DIR__, 2) . '/docs/operations.md');
        preg_match('/^## Prometheus\n(.*?)^## /ms', $page, $section) === 1 || give_up('docs/operations.md has no section "Prometheus"');
        $this->text = $section[1];
    }

    /** The only block of a language. */
    public function code(string $language): string
    {
        preg_match_all("/^```$language\n(.*?)^```/ms", $this->text, $found);
        count($found[1]) === 1 || give_up("docs/operations.md: one block of $language was expected");
        return $found[1][0];
    }

    /** The page for a test, in which Prometheus is 127.0.0.1 and the proxy is 127.0.0.3. */
    public function page(): string
    {
        $page = $this->code('php');
        foreach (['127.0.0.1' => '127.0.0.3', '10.0.0.9' => '127.0.0.1'] as $shown => $tested) {
            str_contains($page, "'$shown'") || give_up("docs/operations.md: $shown is missing");
            $page = str_replace("'$shown'", "'$tested'", $page);
        }
        return $page;
    }

    /** The configuration for a test: scrapes one address each second, and reads the rules of a file. */
    public function configuration(string $address, string $rules): string
    {
        $configuration = $this->code('yaml');
        foreach (["['10.0.0.5:80', '10.0.0.6:80']" => "['$address']", "- alerts.yml\n" => "- $rules\n"] as $shown => $tested) {
            str_contains($configuration, $shown) || give_up("docs/operations.md: $shown is missing");
            $configuration = str_replace($shown, $tested, $configuration);
        }
        return "global: {scrape_interval: 1s, evaluation_interval: 1s}\n$configuration";
    }

    /** @return array<string, string> the types of the metrics in the table */
    public function metrics(): array
    {
        preg_match_all('/^\| `(token_bucket_\w+)` \| (\w+) \|/m', $this->text, $found);
        return array_combine($found[1], $found[2]);
    }
}

function check_docs(Docs $docs, Site $site): void
{
    $metrics = $docs->metrics();
    // There only while a clock is behind: php-tests/07_servers/memcached/memcached_clocks.phpt.
    check_same('the table has the difference of clocks', 'gauge', $metrics['token_bucket_server_clock_behind_seconds'] ?? null);
    unset($metrics['token_bucket_server_clock_behind_seconds']);
    check_same('the table has the metrics that prometheus() has, with their types', metric_types($site->get('token_bucket.php')), $metrics);

    $answer = $site->metrics('127.0.0.1');
    check_same('Prometheus may read the page', 200, $answer->status);
    check_same('its type is that of the text format', 1, preg_match('~^text/plain; version=0\.0\.4(;|$)~i', $answer->header('content-type')));
    foreach ([
        'another client' => ['127.0.0.2', []],
        'another client that names Prometheus' => ['127.0.0.2', ['X-Forwarded-For: 127.0.0.1']],
        'a client behind the proxy' => ['127.0.0.3', ['X-Forwarded-For: 198.51.100.7']],
        'a client behind the proxy that names Prometheus' => ['127.0.0.3', ['X-Forwarded-For: 127.0.0.1, 198.51.100.7']],
        'a client behind the proxy, which names no client,' => ['127.0.0.3', []],
    ] as $reader => [$client, $headers]) {
        check_same("$reader may not read the page", 403, $site->metrics($client, $headers)->status);
    }
}
