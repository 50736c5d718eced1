<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * What the first pass found.
 *
 * @phpstan-import-type Tally from Doubts
 */
final class Reading
{
    public const MOST_BROKEN_SHOWN = 3;

    /**
     * @param int          $broken        lines in no format that is read, of those that might match
     * @param list<string> $brokenLines   some of them, safe to print
     * @param int          $withoutClient lines that match and do not name what --by asks for
     * @param int          $first         time of the first request, in milliseconds
     * @param array<string, array{kind: string, text: string}> $agents user agents by code
     * @param array<int, Doubts> $doubts of each log, by its number
     */
    private function __construct(
        public readonly int $lines,
        public readonly int $requests,
        public readonly int $broken,
        public readonly array $brokenLines,
        public readonly int $withoutClient,
        public readonly int $first,
        public readonly int $last,
        private array $agents,
        public readonly array $doubts,
    ) {
    }

    /**
     * @param list<array{lines: int, hits: int, broken: int, broken_lines: list<string>, without_client: int, first: ?int, last: ?int,
     *     doubts: array<int, array{Tally, Tally, array<string, true>}>, agents: array<string, array{kind: string, text: string}>}> $results of the processes
     */
    public static function fromResults(array $results): self
    {
        $first = array_filter(array_column($results, 'first'), 'is_int');
        $last = array_filter(array_column($results, 'last'), 'is_int');
        return new self(
            (int) array_sum(array_column($results, 'lines')),
            (int) array_sum(array_column($results, 'hits')),
            (int) array_sum(array_column($results, 'broken')),
            array_slice(array_merge(...array_column($results, 'broken_lines')), 0, self::MOST_BROKEN_SHOWN),
            (int) array_sum(array_column($results, 'without_client')),
            $first === [] ? 0 : min($first),
            $last === [] ? 0 : max($last),
            array_merge(...array_column($results, 'agents')),
            Doubts::merged(array_column($results, 'doubts')),
        );
    }

    /**
     * @param list<string> $codes of user agents; each process has codes of its own
     *
     * @return list<array{kind: string, text: string}> each user agent once, in order of their texts
     */
    public function agents(array $codes): array
    {
        $agents = [];
        foreach ($codes as $code) {
            $agent = $this->agents[$code];
            $agents["$agent[text]\0$agent[kind]"] = $agent;
        }
        ksort($agents, SORT_STRING);
        return array_values($agents);
    }
}
