<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/**
 * The findings for a terminal of 80 columns.
 *
 * @phpstan-import-type Report from Findings
 * @phpstan-import-type Suggestion from Findings
 */
final class TextReport
{
    private const WIDTH = 80;
    private const MOST_OF_GROUP = 3;

    /** @param Report $report */
    public static function render(array $report): string
    {
        return self::summary($report) . "\n" . self::table($report) . "\n" . self::clients($report) . self::suggestion($report);
    }

    /** @param Report $report */
    private static function summary(array $report): string
    {
        $match = $report['match'] === [] ? 'every request' : implode(' or ', array_map([Text::class, 'printable'], $report['match']));
        $by = Text::printable($report['by']);
        $text = implode(', ', $report['logs']) . ': ' . number_format($report['lines']) . ' lines, ' . number_format($report['requests']) . " requests ($match)\n"
            . self::readAs($report)
            . "from $report[from] to $report[to]\n"
            . number_format($report['clients']) . " clients by $by: " . Wording::groups($report) . "\n";
        if ($report['broken_lines'] > 0) {
            $text .= number_format($report['broken_lines']) . " broken lines, not counted, such as:\n";
            foreach ($report['broken_samples'] as $line) {
                $text .= "    $line\n";
            }
        }
        if ($report['lines_without_client'] > 0) {
            $missing = in_array($report['by'], ['address', 'network'], true) ? 'an address' : $by;
            $text .= number_format($report['lines_without_client']) . " lines without $missing, not counted\n";
        }
        return $text;
    }

    /** @param Report $report */
    private static function readAs(array $report): string
    {
        $texts = array_unique(array_map([Wording::class, 'readAs'], $report['read_as']));
        return implode('', array_map(static fn (string $text): string => wordwrap($text, self::WIDTH) . "\n", $texts));
    }

    /** @param Report $report */
    private static function table(array $report): string
    {
        $suggested = [];
        foreach ([...$report['suggestions'], ...$report['suggestions_for_people']] as $limit) {
            $suggested[$limit['rate']][$limit['capacity']] = true;
        }
        $text = "            denied: requests  clients            people   first client hit\n";
        $rate = null;
        foreach ($report['limits'] as $limit) {
            if ($limit['rate'] !== $rate) {
                $rate = $limit['rate'];
                $text .= "$rate\n";
            }
            $first = implode(' ', array_map(static fn (string $client): string => Text::printable($client, 24), array_slice($limit['first_clients'], 0, 1)));
            $text .= rtrim(sprintf(
                " %s%7d at once %9s  %-18s %-7s  %s",
                isset($suggested[$rate][$limit['capacity']]) ? '*' : ' ',
                $limit['capacity'],
                Wording::percent($limit['requests_denied_percent']),
                Wording::percent($limit['clients_denied_percent']) . " ($limit[clients_denied])",
                $limit['people_denied'],
                $first,
            )) . "\n";
        }
        return $text . "* suggested below; people: all that look like neither machine nor burst\n";
    }

    /** @param Report $report */
    private static function clients(array $report): string
    {
        $text = '';
        $shown = [];
        foreach ($report['first_clients'] as $client) {
            $shown[$client['group']] = ($shown[$client['group']] ?? 0) + 1;
            if ($shown[$client['group']] > self::MOST_OF_GROUP) {
                continue;
            }
            $agent = $client['user_agent'] === '' ? '' : "; $client[user_agent]";
            $text .= '  ' . Text::printable($client['client'], 40) . ': ' . Wording::behaviour($client) . "\n"
                . '    ' . Text::printable(implode(', ', $client['reasons']) . $agent, 73) . "\n";
        }
        return $text === '' ? '' : "The first clients they would hit, of each kind:\n$text\n";
    }

    /** @param Report $report */
    private static function suggestion(array $report): string
    {
        $text = $sections = '';
        foreach (Wording::suggestions($report) as $number => $suggestion) {
            $text .= wordwrap(($number === 0 ? 'Suggested: ' : "\n") . $suggestion['title'], self::WIDTH) . "\n"
                . ($suggestion['limits'] === [] ? "  none of these limits denies so few\n" : self::codes($suggestion['limits']));
            $sections .= $suggestion['strictest'] === null ? '' : "\n$suggestion[section_title]\n" . (string) preg_replace('~^(?=.)~m', '    ', $suggestion['strictest']['ini']);
        }
        return $text . $sections;
    }

    /** @param list<Suggestion> $suggestions */
    private static function codes(array $suggestions): string
    {
        $text = '';
        foreach ($suggestions as $limit) {
            $text .= sprintf("  %-7s %-52s denies %s\n", $limit['rate'], $limit['php'], Wording::percent($limit['requests_denied_percent']));
        }
        return $text;
    }
}
