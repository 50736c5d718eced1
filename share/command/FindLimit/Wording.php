<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * Words that the reports share. Nothing here is escaped.
 *
 * @phpstan-import-type Report from Findings
 * @phpstan-import-type Suggestion from Findings
 * @phpstan-import-type Client from Findings
 */
final class Wording
{
    public static function percent(float $percent): string
    {
        if ($percent === 0.0) {
            return '0 %';
        }
        return $percent < 0.01 ? '<0.01 %' : number_format($percent, 2) . ' %';
    }

    /** @param Report $report */
    public static function groups(array $report): string
    {
        [$people, $machines, $bursts] = array_map(
            static fn (string $group): string => number_format($report['clients_by_behaviour'][$group]),
            [Behaviour::PEOPLE, Behaviour::MACHINE, Behaviour::BURST],
        );
        return "$people people or unclear, $machines machines, $bursts bursts";
    }

    /** @param Client $client */
    public static function behaviour(array $client): string
    {
        return number_format($client['requests']) . " requests; $client[looks_like] (sureness $client[sureness])";
    }

    /**
     * What to suggest, of people first where that differs: machines are there to be denied.
     *
     * @param Report $report
     *
     * @return non-empty-list<array{title: string, limits: list<Suggestion>, section_title: string, strictest: Suggestion|null}>
     */
    public static function suggestions(array $report): array
    {
        $of_all = [
            'title' => self::allowance($report, 'clients', $report['most_clients_denied']) . ':',
            'limits' => $report['suggestions'],
            'section_title' => 'The one that denies the most requests, as a section of limits.ini:',
            'strictest' => $report['strictest'],
        ];
        $is_same = array_column($report['suggestions'], 'php') === array_column($report['suggestions_for_people'], 'php');
        if ($is_same || $report['clients_by_behaviour'][Behaviour::PEOPLE] === 0) {
            return [$of_all];
        }
        $of_people = [
            'title' => self::allowance($report, 'people', $report['most_people_denied']) . '; machines and one-off bursts may be denied:',
            'limits' => $report['suggestions_for_people'],
            'strictest' => $report['strictest_for_people'],
        ] + $of_all;
        $of_all['title'] = 'The same of all clients, machines and bursts too:';
        $of_all['section_title'] = 'The one of all clients that denies the most:';
        return [$of_people, $of_all];
    }

    /** @param Report $report */
    private static function allowance(array $report, string $clients, int $most): string
    {
        return "for each rate the smallest that denies $report[deny_share_percent] % of $clients (" . ($most === 0 ? 'none' : number_format($most)) . ') at most';
    }

    /** @param array{client: string, time: string, request: string, not_the_client: list<string>} $read_as */
    public static function readAs(array $read_as): string
    {
        return "client: $read_as[client]; time: $read_as[time]; request: $read_as[request]"
            . implode('', array_map(static fn (string $place): string => "; not the client: $place", $read_as['not_the_client']));
    }
}
