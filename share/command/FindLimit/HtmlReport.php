<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * The findings as one HTML page: no JavaScript, nothing fetched; everything that clients wrote is text.
 *
 * @phpstan-import-type Report from Findings
 * @phpstan-import-type Suggestion from Findings
 */
final class HtmlReport
{
    private const STYLE = <<<'CSS'
        :root { color-scheme: light dark; --all: #0969da; --people: #bc4c00; --quiet: #888; }
        @media (prefers-color-scheme: dark) { :root { --all: #58a6ff; --people: #f0883e; } }
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; margin: 1rem 0; }
        caption { text-align: left; font-weight: 600; }
        th, td { border-bottom: 1px solid var(--quiet); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; font-weight: normal;
            overflow-wrap: break-word; max-width: 30rem; }
        th[scope=col] { font-weight: 600; }
        code { white-space: nowrap; }
        .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1rem; }
        figure { margin: 0; }
        svg { width: 100%; height: auto; font-size: 11px; }
        svg text { fill: currentColor; }
        svg path { fill: none; stroke-width: 2; }
        svg .grid { stroke: var(--quiet); stroke-width: .5; opacity: .5; }
        svg .allowed { stroke: currentColor; stroke-dasharray: 2 3; }
        svg .suggested { stroke: currentColor; stroke-dasharray: 5 3; }
        svg .all, .key.all { stroke: var(--all); color: var(--all); }
        svg .people, .key.people { stroke: var(--people); color: var(--people); stroke-dasharray: 7 3; }
        pre { overflow-x: auto; }
        CSS;

    /** @param Report $report */
    public static function render(array $report): string
    {
        $logs = Html::text(implode(', ', $report['logs']));
        return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
            . "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            . "<title>Limits for $logs</title>\n<style>\n" . self::STYLE . "\n</style>\n</head>\n<body>\n<h1>Limits for $logs</h1>\n"
            . self::summary($report)
            . "<h2>Suggestion</h2>\n" . self::suggestions($report)
            . "<h2>Clients denied, by capacity</h2>\n" . self::plots($report)
            . "<h2>Limits</h2>\n" . self::limits($report)
            . "<h2>Clients</h2>\n" . self::clients($report)
            . "</body>\n</html>\n";
    }

    /** @param Report $report */
    private static function summary(array $report): string
    {
        $facts = [
            'Requests' => number_format($report['requests']) . ' of ' . number_format($report['lines']) . ' lines: '
                . ($report['match'] === [] ? 'all' : implode(' or ', $report['match'])),
            'Read as' => implode(' | ', array_unique(array_map([Wording::class, 'readAs'], $report['read_as']))),
            'Time' => "$report[from] to $report[to]",
            'Clients' => number_format($report['clients']) . " by $report[by]: " . Wording::groups($report),
            'Broken lines' => number_format($report['broken_lines']) . ($report['broken_lines'] > 0 ? ', such as: ' . implode(' | ', $report['broken_samples']) : ''),
            'Warnings' => implode('; ', [...$report['warnings'], ...$report['doubts']]) ?: 'none',
        ];
        $rows = [];
        foreach ($facts as $name => $fact) {
            $rows[] = [$name, Html::text($fact)];
        }
        return Html::table('The log', [], $rows);
    }

    /** @param Report $report */
    private static function suggestions(array $report): string
    {
        $html = '';
        foreach (Wording::suggestions($report) as $suggestion) {
            $html .= $suggestion['limits'] === []
                ? '<p>' . Html::text(ucfirst($suggestion['title'])) . "</p>\n<p>None of these limits denies something to so few.</p>\n"
                : self::codes(ucfirst($suggestion['title']), $suggestion['limits']);
            if ($suggestion['strictest'] !== null) {
                $html .= '<p>' . Html::text($suggestion['section_title']) . "</p>\n<pre>"
                    . implode("\n", array_map([Html::class, 'text'], explode("\n", $suggestion['strictest']['ini']))) . "</pre>\n";
            }
        }
        return $html;
    }

    /** @param list<Suggestion> $suggestions */
    private static function codes(string $caption, array $suggestions): string
    {
        $rows = [];
        foreach ($suggestions as $limit) {
            $rows[] = [
                Html::text($limit['rate']),
                '<code>' . Html::text($limit['php']) . '</code>',
                Wording::percent($limit['requests_denied_percent']),
                Wording::percent($limit['clients_denied_percent']) . " ($limit[clients_denied])",
            ];
        }
        return Html::table($caption, ['Rate', 'In PHP', 'Requests denied', 'Clients denied'], $rows);
    }

    /** @param Report $report */
    private static function plots(array $report): string
    {
        $suggested = array_column(Wording::suggestions($report)[0]['limits'], 'capacity', 'rate');
        $html = '<p><span class="key all">&#9472; all clients</span> <span class="key people">&#9476; people</span>; dotted: the share that is allowed; '
            . "dashed: the suggested capacity.</p>\n<div class=\"plots\">\n";
        foreach ($report['curves'] as $curve) {
            $html .= '<figure><figcaption>' . Html::text($curve['rate']) . '</figcaption>'
                . (new CurvePlot($curve))->render($report['deny_share_percent'], $suggested[$curve['rate']] ?? null) . "</figure>\n";
        }
        return "$html</div>\n";
    }

    /** @param Report $report */
    private static function limits(array $report): string
    {
        $rows = [];
        foreach ($report['limits'] as $limit) {
            $rows[] = [
                "$limit[capacity] at once, then " . Html::text($limit['rate']),
                Wording::percent($limit['requests_denied_percent']) . " ($limit[requests_denied])",
                Wording::percent($limit['clients_denied_percent']) . " ($limit[clients_denied])",
                (string) $limit['people_denied'],
                (string) $limit['machines_denied'],
                (string) $limit['bursts_denied'],
                implode(', ', array_map([Html::class, 'text'], $limit['first_clients'])),
            ];
        }
        return Html::table('What each limit denies', ['Limit', 'Requests', 'Clients', 'People', 'Machines', 'One-off bursts', 'First clients it would hit'], $rows);
    }

    /** @param Report $report */
    private static function clients(array $report): string
    {
        $rows = [];
        foreach ($report['first_clients'] as $client) {
            $rows[] = [
                Html::text($client['client']),
                Html::text(Wording::behaviour($client) . ': ' . implode(', ', $client['reasons'])),
                Html::text(implode(', ', array_map(
                    static fn (string $rate, int $capacity): string => "$capacity at $rate",
                    array_keys($client['smallest_capacity']),
                    $client['smallest_capacity'],
                ))),
                Html::text($client['user_agent']),
            ];
        }
        return Html::table('The clients of each kind that limits hit first', ['Client', 'Looks like', 'Would pass with a capacity of', 'User agent'], $rows);
    }
}
