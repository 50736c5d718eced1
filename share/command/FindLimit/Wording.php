<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Words that the reports share. Nothing here is escaped. */
final class Wording
{
    public static function percent(float $percent): string
    {
        if ($percent == 0) {
            return '0 %';
        }
        return $percent < 0.01 ? '<0.01 %' : number_format($percent, 2) . ' %';
    }

    /** @param array<string, mixed> $report */
    public static function groups(array $report): string
    {
        [$people, $machines, $bursts] = array_map(
            static fn (string $group): string => number_format($report['clients_by_behaviour'][$group]),
            [Behaviour::PEOPLE, Behaviour::MACHINE, Behaviour::BURST],
        );
        return "$people people or unclear, $machines machines, $bursts bursts";
    }

    /** @param array<string, mixed> $client */
    public static function behaviour(array $client): string
    {
        return number_format($client['requests']) . " requests; $client[looks_like] (sureness $client[sureness])";
    }

    /** @param array<string, mixed> $report */
    public static function allowance(array $report): string
    {
        $most = $report['most_clients_denied'] === 0 ? 'none' : number_format($report['most_clients_denied']);
        return "for each rate the smallest that denies $report[deny_share_percent] % of clients ($most) at most:";
    }

    /** @param array<string, mixed> $report */
    public static function differForPeople(array $report): bool
    {
        return $report['suggestions_for_people'] !== []
            && array_column($report['suggestions'], 'php') !== array_column($report['suggestions_for_people'], 'php');
    }

    /**
     * Sections of limits.ini, by what to say of them.
     *
     * @param array<string, mixed> $report
     *
     * @return array<string, string>
     */
    public static function sections(array $report): array
    {
        $sections = [];
        if ($report['strictest'] !== null) {
            $sections['The one that denies the most requests, as a section of limits.ini:'] = $report['strictest']['ini'];
        }
        if (self::differForPeople($report)) {
            $sections['The one of people alone that denies the most:'] = $report['strictest_for_people']['ini'];
        }
        return $sections;
    }
}
