<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * What find-limit found, as plain arrays: what --json prints, and what the reports show.
 *
 * @phpstan-import-type Client from Survey as DeepClient
 * @phpstan-type Limit array{rate: string, capacity: int, interval: int|float, requests_denied: int, requests_denied_percent: float,
 *     clients_denied: int, clients_denied_percent: float, people_denied: int, people_denied_percent: float, machines_denied: int,
 *     bursts_denied: int, first_clients: list<string>}
 * @phpstan-type Suggestion array{rate: string, capacity: int, requests_denied_percent: float, clients_denied: int,
 *     clients_denied_percent: float, php: string, ini: string, ...}
 * @phpstan-type Client array{client: string, requests: int, group: string, looks_like: string, sureness: string, reasons: list<string>,
 *     user_agent: string, smallest_capacity: array<string, int>}
 * @phpstan-type Curve array{rate: string, points: list<array{int, float, float}>}
 * @phpstan-type Report array{logs: list<string>, read_as: list<array{client: string, time: string, request: string, not_the_client: list<string>}>,
 *     warnings: list<string>, doubts: list<string>, match: list<string>, by: string, lines: int, broken_lines: int, broken_samples: list<string>,
 *     lines_without_client: int, requests: int, from: string, to: string, clients: int, clients_by_behaviour: array<string, int>,
 *     deny_share_percent: float, most_clients_denied: int, most_people_denied: int,
 *     limits: list<Limit>, suggestions: list<Suggestion>, suggestions_for_people: list<Suggestion>, strictest: Suggestion|null,
 *     strictest_for_people: Suggestion|null, first_clients: list<Client>, curves: list<Curve>}
 */
final class Findings
{
    private const POINTS_OF_CURVE = 80;
    private const MOST_CLIENTS = 8;
    private const FIRST_CLIENTS = 2;

    /**
     * @param list<Rate> $rates
     * @param list<int>  $capacities to show
     * @param bool       $only_these whether a suggestion must be one of them
     * @param float      $deny_share percent of clients that a suggestion may deny something
     */
    public function __construct(
        private Survey $survey,
        private array $rates,
        private array $capacities,
        private bool $only_these,
        private float $deny_share,
    ) {
    }

    /** @return list<list<int>> for each rate the capacities to judge, in order */
    public function capacities(): array
    {
        $all = [];
        foreach (array_keys($this->rates) as $rate) {
            $shown = array_filter(
                $this->possibleCapacities($rate),
                fn (int $capacity): bool => $this->only_these || $this->survey->deniedClients($rate, $capacity) > 0,
            );
            foreach ([Behaviour::GROUPS, [Behaviour::PEOPLE]] as $groups) {
                $shown[] = $this->suggestedCapacity($rate, $groups);
            }
            if (!$this->only_these) {
                // The one that denies nothing.
                $shown[] = min($this->survey->smallestCapacity($rate, 0, Behaviour::GROUPS), $this->rates[$rate]->largestCapacity());
            }
            $shown = array_values(array_unique(array_filter($shown)));
            sort($shown);
            $all[] = $shown;
        }
        return $all;
    }

    /**
     * @param array<int, array<int, int>> $denied requests that each limit denies, by the number of the rate and the capacity
     *
     * @return array<string, mixed> a Report but for what stands in the arguments
     */
    public function report(array $denied, HitCollector $reading, string $name): array
    {
        $limits = $suggestions = [];
        foreach ($this->rates as $number => $rate) {
            foreach ($denied[$number] as $capacity => $requests) {
                $limits[] = $this->limit($number, $capacity, $requests, $reading->requests);
            }
            foreach (['all clients' => Behaviour::GROUPS, 'people' => [Behaviour::PEOPLE]] as $of => $groups) {
                $capacity = $this->suggestedCapacity($number, $groups);
                if ($capacity !== null) {
                    $suggestions[$of][] = $this->limit($number, $capacity, $denied[$number][$capacity], $reading->requests)
                        + self::code($rate, $capacity, $name);
                }
            }
        }
        return [
            'lines' => $reading->lines,
            'broken_lines' => $reading->broken,
            'broken_samples' => $reading->brokenLines,
            'lines_without_client' => $reading->withoutClient,
            'requests' => $reading->requests,
            'from' => LogTime::toText($reading->first),
            'to' => LogTime::toText($reading->last),
            'clients' => $this->survey->allClients(),
            'clients_by_behaviour' => $this->survey->clients,
            'deny_share_percent' => $this->deny_share,
            'most_clients_denied' => $this->mostDenied(Behaviour::GROUPS),
            'most_people_denied' => $this->mostDenied([Behaviour::PEOPLE]),
            'limits' => $limits,
            'suggestions' => $suggestions['all clients'] ?? [],
            'suggestions_for_people' => $suggestions['people'] ?? [],
            'strictest' => self::strictest($suggestions['all clients'] ?? []),
            'strictest_for_people' => self::strictest($suggestions['people'] ?? []),
            'first_clients' => $this->firstClients(),
            'curves' => array_map(fn (int $number): array => $this->curve($number), array_keys($this->rates)),
        ];
    }

    /** @return Limit */
    private function limit(int $number, int $capacity, int $requests_denied, int $requests): array
    {
        $clients = $this->survey->deniedClients($number, $capacity);
        $people = $this->survey->deniedClients($number, $capacity, [Behaviour::PEOPLE]);
        return [
            'rate' => $this->rates[$number]->label,
            'capacity' => $capacity,
            'interval' => self::interval($this->rates[$number], $capacity),
            'requests_denied' => $requests_denied,
            'requests_denied_percent' => self::percent($requests_denied, $requests),
            'clients_denied' => $clients,
            'clients_denied_percent' => self::percent($clients, $this->survey->allClients()),
            'people_denied' => $people,
            'people_denied_percent' => self::percent($people, $this->survey->clients[Behaviour::PEOPLE]),
            'machines_denied' => $this->survey->deniedClients($number, $capacity, [Behaviour::MACHINE]),
            'bursts_denied' => $this->survey->deniedClients($number, $capacity, [Behaviour::BURST]),
            'first_clients' => array_slice(array_column($this->deepest($number, $capacity), 'client'), 0, self::FIRST_CLIENTS),
        ];
    }

    /** @return list<DeepClient> the deepest clients of a rate that a capacity denies something */
    private function deepest(int $number, int $capacity): array
    {
        $named = array_merge(...array_values($this->survey->deepest[$number]));
        usort($named, static fn (array $a, array $b): int => $b['level'] <=> $a['level']);
        return array_values(array_filter($named, static fn (array $client): bool => $client['level'] > $capacity));
    }

    /** @return list<Client> of each group those that a limit hits first, at one rate or another */
    private function firstClients(): array
    {
        $labels = array_map(static fn (Rate $rate): string => $rate->label, $this->rates);
        $found = [];
        foreach (Behaviour::GROUPS as $group) {
            $ranked = [];
            foreach ($this->survey->deepest as $groups) {
                foreach ($groups[$group] as $rank => $client) {
                    $ranked[$client['client']] ??= ['rank' => $rank] + $client;
                    $ranked[$client['client']]['rank'] = min($rank, $ranked[$client['client']]['rank']);
                }
            }
            usort($ranked, static fn (array $a, array $b): int => $a['rank'] <=> $b['rank']);
            foreach (array_slice($ranked, 0, self::MOST_CLIENTS) as $client) {
                $client['smallest_capacity'] = array_combine($labels, $client['levels']);
                unset($client['rank'], $client['level'], $client['levels']);
                $found[] = $client;
            }
        }
        return $found;
    }

    /** @return Curve capacity, percent of clients denied, percent of people denied */
    private function curve(int $number): array
    {
        $deepest = $this->survey->smallestCapacity($number, 0, Behaviour::GROUPS);
        $points = [];
        for ($step = 0; $step < self::POINTS_OF_CURVE; $step++) {
            $capacity = max(1, (int) round($deepest ** ($step / (self::POINTS_OF_CURVE - 1))));
            $points[$capacity] ??= [
                $capacity,
                self::percent($this->survey->deniedClients($number, $capacity), $this->survey->allClients()),
                self::percent($this->survey->deniedClients($number, $capacity, [Behaviour::PEOPLE]), $this->survey->clients[Behaviour::PEOPLE]),
            ];
        }
        return ['rate' => $this->rates[$number]->label, 'points' => array_values($points)];
    }

    /** @param list<string> $groups */
    private function suggestedCapacity(int $number, array $groups): ?int
    {
        $smallest = $this->survey->smallestCapacity($number, $this->mostDenied($groups), $groups);
        if (!$this->only_these) {
            return $smallest <= $this->rates[$number]->largestCapacity() ? $smallest : null;
        }
        foreach ($this->possibleCapacities($number) as $capacity) {
            if ($capacity >= $smallest) {
                return $capacity;
            }
        }
        return null;
    }

    /** @return list<int> */
    private function possibleCapacities(int $number): array
    {
        $largest = $this->rates[$number]->largestCapacity();
        return array_values(array_filter($this->capacities, static fn (int $capacity): bool => $capacity <= $largest));
    }

    /** @param list<string> $groups */
    private function mostDenied(array $groups): int
    {
        $clients = array_sum(array_intersect_key($this->survey->clients, array_flip($groups)));
        // The small number is for shares such as 0.1, which no float is exactly.
        return (int) floor($clients * $this->deny_share / 100 + 1e-9);
    }

    /**
     * The suggestion that denies the most requests; of those that deny as many, the one that refills most slowly.
     *
     * @param list<Suggestion> $suggestions
     *
     * @return Suggestion|null
     */
    private static function strictest(array $suggestions): ?array
    {
        usort($suggestions, static fn (array $a, array $b): int =>
            [$b['requests_denied'], $b['interval'] / $b['capacity']] <=> [$a['requests_denied'], $a['interval'] / $a['capacity']]);
        return $suggestions[0] ?? null;
    }

    /** @return array{php: string, ini: string} */
    private static function code(Rate $rate, int $capacity, string $name): array
    {
        $interval = self::interval($rate, $capacity);
        return [
            'php' => "TokenBucket::per(\$storage, \$client, $capacity, $interval)",
            'ini' => "[$name]\nlimit = $capacity\ninterval = $interval\n",
        ];
    }

    private static function interval(Rate $rate, int $capacity): int|float
    {
        $interval = $rate->interval($capacity);
        return floor($interval) === $interval ? (int) $interval : $interval;
    }

    private static function percent(int $part, int $whole): float
    {
        return $whole === 0 ? 0.0 : round(100 * $part / $whole, 4);
    }
}
