<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * Second pass: for each rate, how many clients have which deepest level, in each group; and the deepest clients by name.
 *
 * Bounded: it grows with the number of different levels, not with that of clients.
 *
 * @phpstan-type Client array{client: string, level: int, levels: list<int>, requests: int, group: string, looks_like: string, sureness: string,
 *     reasons: list<string>, user_agent: string}
 */
final class Survey
{
    private const MOST_NAMED = 5;

    /** @var array<string, int> how many clients each group has */
    public array $clients;
    /** @var array<int, array<string, array<int, int>>> by rate, group and level: how many clients */
    public array $levels = [];
    /** @var array<int, array<string, list<Client>>> by rate and group: the deepest clients, deepest first */
    public array $deepest = [];

    /** @param int<0, max> $rates how many */
    public function __construct(int $rates)
    {
        $this->clients = array_fill_keys(Behaviour::GROUPS, 0);
        $this->levels = array_fill(0, $rates, array_fill_keys(Behaviour::GROUPS, []));
        $this->deepest = array_fill(0, $rates, array_fill_keys(Behaviour::GROUPS, []));
    }

    /**
     * @param list<int> $levels     for each rate the client's deepest level
     * @param string    $user_agent one of its user agents
     */
    public function add(ClientHits $hits, array $levels, Behaviour $behaviour, string $user_agent): void
    {
        $this->clients[$behaviour->group]++;
        foreach ($levels as $rate => $level) {
            $this->levels[$rate][$behaviour->group][$level] = ($this->levels[$rate][$behaviour->group][$level] ?? 0) + 1;
            $named = &$this->deepest[$rate][$behaviour->group];
            // Of equal clients the first by name, in whatever order they come.
            $last = $named[self::MOST_NAMED - 1] ?? null;
            if ($level > 1 && ($last === null || $level > $last['level'] || ($level === $last['level'] && strcmp($hits->client, $last['client']) < 0))) {
                $named[] = [
                    'client' => $hits->client,
                    'level' => $level,
                    'levels' => $levels,
                    'requests' => $hits->requests,
                    'group' => $behaviour->group,
                    'looks_like' => $behaviour->name,
                    'sureness' => $behaviour->sureness,
                    'reasons' => $behaviour->reasons,
                    'user_agent' => $user_agent,
                ];
                $named = self::firstDeepest($named);
            }
        }
    }

    public function allClients(): int
    {
        return array_sum($this->clients);
    }

    /**
     * How many clients a limit would deny something.
     *
     * @param list<string> $groups
     */
    public function deniedClients(int $rate, int $capacity, array $groups = Behaviour::GROUPS): int
    {
        $denied = 0;
        foreach ($groups as $group) {
            foreach ($this->levels[$rate][$group] as $level => $count) {
                $denied += $level > $capacity ? $count : 0;
            }
        }
        return $denied;
    }

    /**
     * The smallest capacity that denies something to at most $most clients of these groups.
     *
     * @param list<string> $groups
     */
    public function smallestCapacity(int $rate, int $most, array $groups): int
    {
        $counts = [];
        foreach ($groups as $group) {
            foreach ($this->levels[$rate][$group] as $level => $count) {
                $counts[$level] = ($counts[$level] ?? 0) + $count;
            }
        }
        krsort($counts);
        foreach ($counts as $level => $count) {
            if ($count > $most) {
                return $level;
            }
            $most -= $count;
        }
        return 1;
    }

    /**
     * @param list<Client> $named
     *
     * @return list<Client>
     */
    private static function firstDeepest(array $named): array
    {
        usort($named, static fn (array $a, array $b): int => $b['level'] <=> $a['level'] ?: strcmp($a['client'], $b['client']));
        return array_slice($named, 0, self::MOST_NAMED);
    }
}
