<?php
/*
 * What is found in the journal: by store, and by what was going on at the time.
 */

final class Findings
{
    public int $calls = 0;
    public int $admitted = 0;
    public int $degraded = 0;
    public int $denied_honest = 0;
    public int $slowest = 0;
    /** @var list<array{int, int}> from when to when there were degraded answers that no outage explains */
    public array $strays = [];
    /** The longest after a server's return that it was not used, ns. */
    public int $back_after = 0;
    /** @var list<array{int, int}> by how much calls took too long, the longest, and when they began */
    public array $over = [];
    /** @var array<string, array<int, int>> how many calls took how long, while `calm`, or while `others` were down */
    public array $times = ['calm' => [], 'others' => []];
    /** @var array<string, Bound> of each bucket: the server's, and that of the host which stands in */
    public array $bounds = [];

    public function __construct(public readonly Store $store)
    {
        foreach ($store->hot as $id => $node) {
            $this->bounds["$id 0"] = new Bound(CAPACITY, intdiv(1_000_000_000, RATE));
            $this->bounds["$id 1"] = new Bound(CAPACITY, intdiv(1_000_000_000, RATE));
        }
    }

    /**
     * Adds what one client saw in one second.
     *
     * @param list<Outage> $outages of all servers, around that time
     */
    public function add(int $second, array $seen, array $outages): void
    {
        foreach (['calls', 'admitted', 'degraded', 'denied_honest'] as $count) {
            $this->$count += $seen[$count];
        }
        $this->slowest = max($this->slowest, $seen['slowest']);
        $this->over = array_slice(self::sorted([...$this->over, ...$seen['over']]), 0, 1_000);
        foreach ($seen['journal'] as [$id, $degraded, $before, $after]) {
            $this->bounds["$id $degraded"]->admitted($before, $after);
        }
        foreach ($seen['degraded_at'] as [$before, $after]) {
            $this->degraded_at($before, $after, $outages);
        }
        if ($when = $this->when($second, $outages)) {
            foreach ($seen['times'] as $class => $count) {
                $this->times[$when][$class] = ($this->times[$when][$class] ?? 0) + $count;
            }
        }
    }

    /** An outage explains it until its breaker must be closed again. */
    private function degraded_at(int $at, int $after, array $outages): void
    {
        $own = array_filter($outages, fn (Outage $outage): bool => in_array($outage->node, $this->store->nodes, true) && $outage->from <= $after);
        $last = end($own);
        foreach ($own as $outage) {
            if ($at < $outage->to) {
                return; // a server is down
            }
            $last = $outage->to > $last->to ? $outage : $last;
        }
        if (!$last || $at > $last->to + $this->store->back_within) {
            $this->stray($at);
        } else {
            $this->back_after = max($this->back_after, $at - $last->to);
        }
    }

    private function stray(int $at): void
    {
        foreach ($this->strays as &$stray) {
            if ($at > $stray[0] - $this->store->back_within && $at < $stray[1] + $this->store->back_within) {
                $stray = [min($stray[0], $at), max($stray[1], $at)];
                return;
            }
        }
        $this->strays[] = [$at, $at];
    }

    /** Whether that second was calm, or other servers were down; null while its own were. */
    private function when(int $second, array $outages): ?string
    {
        [$from, $to] = [$second * 1_000_000_000, ($second + 3) * 1_000_000_000];
        $then = array_filter($outages, fn (Outage $outage): bool => $outage->from < $to && $outage->to + $this->store->back_within > $from);
        $own = array_filter($then, fn (Outage $outage): bool => in_array($outage->node, $this->store->nodes, true));
        return $own ? null : ($then ? 'others' : 'calm');
    }

    /** The time that this part of the calls did not exceed, in µs; null if there were none. */
    public function took(string $when, float $part): ?float
    {
        $times = $this->times[$when];
        ksort($times);
        $left = $part * array_sum($times);
        foreach ($times as $class => $count) {
            if (($left -= $count) <= 0) {
                return 2 ** (($class + 0.5) / 8);
            }
        }
        return null;
    }

    /** Notes that a server was killed, if its buckets are gone with it. */
    public function lost(Outage $outage): void
    {
        foreach ($this->store->hot as $id => $node) {
            if ($node === $outage->node && $outage->loses_buckets()) {
                $this->bounds["$id 0"]->lost($outage->down);
            }
        }
    }

    public function advance(int $until): void
    {
        array_map(fn (Bound $bound) => $bound->advance($until), $this->bounds);
    }

    public function exceeded(): int
    {
        return array_sum(array_map(fn (Bound $bound): int => $bound->exceeded, $this->bounds));
    }

    /** What attackers were admitted. */
    public function attackers_admitted(): int
    {
        return array_sum(array_map(fn (Bound $bound): int => $bound->count, $this->bounds));
    }

    /** The most that all buckets together could have admitted: by their servers while they were up, by this host while they were not. */
    public function bound(int $from, int $to, array $outages): int
    {
        $total = 0;
        foreach ($this->store->hot as $id => $node) {
            $up = $down = [];
            // A client's last call is still on its way when the time is up.
            [$begun, $to, $lost] = [min($from, $this->bounds["$id 0"]->first), max($to, $this->bounds["$id 0"]->last), false];
            foreach ($outages as $outage) {
                if ($outage->node === $node) {
                    $up[] = [$begun, $outage->down, $lost];
                    [$begun, $lost] = [$outage->to, $outage->loses_buckets()];
                    $down[] = [$outage->from, $outage->to + $this->store->back_within, false];
                }
            }
            $up[] = [$begun, $to, $lost];
            foreach ($this->strays as [$first, $last]) {
                $down[] = [$first, $last + 50_000_000, false];
            }
            $total += $this->bounds["$id 0"]->most($up) + $this->bounds["$id 1"]->most(self::merged($down));
        }
        return $total;
    }

    /** Spans that overlap become one. */
    private static function merged(array $spans): array
    {
        sort($spans);
        $merged = [];
        foreach ($spans as $span) {
            $last = count($merged) - 1;
            if ($last >= 0 && $span[0] <= $merged[$last][1]) {
                $merged[$last][1] = max($merged[$last][1], $span[1]);
            } else {
                $merged[] = $span;
            }
        }
        return $merged;
    }

    private static function sorted(array $values): array
    {
        rsort($values);
        return $values;
    }
}
