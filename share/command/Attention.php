<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** What an operator should look at first. */
final class Attention
{
    /** A limit that denies a larger share of its calls, in so many minutes, with so many calls at least: as in share/alerts.yml. */
    private const MOSTLY_DENIED = 0.5;
    private const MINUTES = 10;
    private const FEWEST_CALLS = 60;
    /** A fuller table is nearly full. */
    private const FULL = 0.9;

    /**
     * @param array{
     *     limits_file: array{path: string, error: string|null}|null,
     *     shared_memory_errors: list<string>,
     *     likely_mistakes: list<string>,
     *     last_hour: array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
     *     servers: list<array{name: string, up: bool, since: float, last_failure: string|null, clock_behind: float|null, ...}>,
     *     directives: array<string, string>,
     *     tables: list<array{name: string, holds: string, slots: int, used: int, evictions: int, denied_newcomers: int, ...}>,
     *     ...
     * } $status
     *
     * @return list<string> sentences, the worst first
     */
    public static function of(array $status): array
    {
        $error = $status['limits_file']['error'] ?? null;
        return [
            ...$error === null ? [] : ["The file of limits has a mistake. Workers keep the limits that they have read, and a worker that starts now throws: $error"],
            ...$status['shared_memory_errors'],
            ...array_merge(...array_map(self::ofServer(...), $status['servers'])),
            ...$status['likely_mistakes'],
            ...self::ofLimits($status['last_hour']),
            ...array_merge(...array_map(self::ofTable(...), $status['tables'])),
            ...$status['directives']['token_bucket.test_clock'] === '1' ? ['token_bucket.test_clock = 1: scripts may stop the time of their limits'] : [],
        ];
    }

    /**
     * @param array{name: string, up: bool, since: float, last_failure: string|null, clock_behind: float|null, ...} $server
     *
     * @return list<string>
     */
    private static function ofServer(array $server): array
    {
        $reason = $server['last_failure'] === null ? '' : ": $server[last_failure]";
        return [
            ...$server['up'] ? [] : ["$server[name] has not answered for " . Text::age($server['since']) . $reason],
            ...$server['clock_behind'] === null ? [] : [sprintf("This host's clock is %.1f s behind that of another host that uses %s: set both by NTP", $server['clock_behind'], $server['name'])],
        ];
    }

    /**
     * @param array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}> $last_hour
     *
     * @return list<string>
     */
    private static function ofLimits(array $last_hour): array
    {
        $sentences = [];
        foreach ($last_hour as $name => $minutes) {
            [$calls, $denied] = array_map(static fn (array $counts): int => array_sum(array_slice($counts, -self::MINUTES)), [$minutes['calls'], $minutes['denied']]);
            if ($calls >= self::FEWEST_CALLS && $denied > self::MOSTLY_DENIED * $calls) {
                $sentences[] = sprintf('The limit %s denied %.1f %% of its calls in the last %d minutes: an attack, or a limit that is too low', NamedLimit::label((string) $name), 100 * $denied / $calls, self::MINUTES);
            }
        }
        return $sentences;
    }

    /**
     * @param array{name: string, holds: string, slots: int, used: int, evictions: int, denied_newcomers: int, ...} $table
     *
     * @return list<string>
     */
    private static function ofTable(array $table): array
    {
        $name = "The table $table[name] of $table[holds]";
        return [
            ...$table['used'] < self::FULL * $table['slots'] ? [] : [sprintf('%s is %.0f %% full: raise token_bucket.shm_size', $name, 100 * $table['used'] / $table['slots'])],
            ...$table['evictions'] + $table['denied_newcomers'] === 0 ? [] : ["$name was too small: evictions: $table[evictions], newcomers denied: $table[denied_newcomers]. Raise token_bucket.shm_size"],
        ];
    }
}
