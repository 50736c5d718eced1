<?php
/*
 * What the journal shows of one store, and which outages were going on at the time.
 */

final class Findings
{
    public int $calls = 0;
    public int $admitted = 0;
    public int $degraded = 0;
    public int $denied_honest = 0;
    /** The number of calls of attackers that the store accepted, and of those among them in which the worker did not pause, as it does for a server. */
    public int $attacked = 0;
    public int $unasked = 0;
    /** The number of calls that were accepted during a block, while the store's own servers were up. */
    public int $admitted_blocked = 0;
    public int $permits = 0;
    /** How often a guest met PERMITS others with a permit, while the store's own servers were up. */
    public int $crowded = 0;
    public int $slowest = 0;
    /** @var list<array{int, int}> stray: the spans of degraded answers that no outage explains, ns */
    public array $strays = [];
    /** The latest degraded answer after a server's return, ns after it. */
    public int $back_after = 0;
    /** @var list<array{int, int}> the latest calls: by how much each was late, and when it began */
    public array $over = [];
    /** @var array<string, array<int, int>> histograms of the calls' times: while all servers were up, and while `others` were down */
    public array $times = ['calm' => [], 'others' => []];
    /** @var array<string, Bound> two for each bucket and window: the server's, and the host's own that stands in for it */
    public array $bounds = [];
    /** @var list<array{int, string}> the calls that caused a warning: when each began, and its text */
    private array $warnings = [];

    public function __construct(public readonly Store $store)
    {
        [$capacity, $rate] = $store->limit();
        $interval = intdiv(1_000_000_000, $rate);
        foreach ($store->hot as $id => $node) {
            $bound = fn (int $lease): Bound => is_window($id) ? new WindowBound($capacity, $capacity * $interval) : new BucketBound($capacity, $interval, $lease);
            [$this->bounds["$id 0"], $this->bounds["$id 1"]] = [$bound($store->lease), $bound(0)];
        }
    }

    /**
     * Adds what one client saw in one second.
     *
     * @param list<Outage> $outages of all servers, around that time
     */
    public function add(int $second, array $seen, array $outages): void
    {
        foreach (['calls', 'admitted', 'degraded', 'attacked', 'unasked', 'denied_honest', 'permits'] as $count) {
            $this->$count += $seen[$count];
        }
        $this->slowest = max($this->slowest, $seen['slowest']);
        $this->over = array_slice(self::sorted([...$this->over, ...$seen['over']]), 0, 1_000);
        foreach ($seen['journal'] as [$id, $degraded, $before, $after]) {
            $this->bounds["$id $degraded"]->admitted($before, $after);
        }
        array_push($this->warnings, ...$seen['warnings']);
        foreach ($this->store->fail_alone === null ? $seen['degraded_at'] : [] as [$before, $after]) {
            $this->degraded_at($before, $after, $outages);
        }
        if ($when = $this->when($second, $outages)) {
            $this->admitted_blocked += $seen['admitted_blocked'];
            $this->crowded += $seen['crowded'];
            foreach ($seen['times'] as $class => $count) {
                $this->times[$when][$class] = ($this->times[$when][$class] ?? 0) + $count;
            }
        }
    }

    /** A degraded answer is explained by an outage of its server, until the breaker must be closed again. */
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

    /** Whether all servers were up in that second or only `others` were down; null while the store's own was, or where calls fail alone. */
    private function when(int $second, array $outages): ?string
    {
        [$from, $to] = [$second * 1_000_000_000, ($second + 3) * 1_000_000_000];
        $then = array_filter($outages, fn (Outage $outage): bool => $outage->from < $to && $outage->to + $this->store->back_within > $from);
        $own = array_filter($then, fn (Outage $outage): bool => in_array($outage->node, $this->store->nodes, true));
        return $own || $this->store->fail_alone !== null ? null : ($then ? 'others' : 'calm');
    }

    /** A quantile of the calls' times, in µs; null if there were no calls. */
    public function took(string $when, float $quantile): ?float
    {
        $times = $this->times[$when];
        ksort($times);
        $left = $quantile * array_sum($times);
        foreach ($times as $class => $count) {
            if (($left -= $count) <= 0) {
                return 2 ** (($class + 0.5) / 8);
            }
        }
        return null;
    }

    /** Notes an outage in which a server lost its buckets. */
    public function lost(Outage $outage): void
    {
        foreach ($this->store->hot as $id => $node) {
            if ($node === $outage->node && $outage->loses_buckets()) {
                $this->bounds["$id 0"]->lost($outage->down);
            }
        }
    }

    /**
     * The texts of the store's warnings around a stray, and how often each came: what the calls themselves gave as
     * the reason.
     *
     * @param array{int, int} $stray
     * @return array<string, int>
     */
    public function warnings_around(array $stray): array
    {
        [$from, $to] = $stray;
        $around = array_filter($this->warnings, fn (array $warning): bool => $warning[0] >= $from - WARNED_BEFORE && $warning[0] <= $to + WARNED_BEFORE);
        return array_count_values(array_column($around, 1));
    }

    public function advance(int $until): void
    {
        array_map(fn (Bound $bound) => $bound->advance($until), $this->bounds);
    }

    /** @return list<Bound> those of the windows, or of the buckets */
    public function bounds_of(bool $windows): array
    {
        return array_values(array_filter($this->bounds, fn (string $id): bool => is_window($id) === $windows, ARRAY_FILTER_USE_KEY));
    }

    public function exceeded(bool $windows): int
    {
        return array_sum(array_column($this->bounds_of($windows), 'exceeded'));
    }

    /** How many calls of attackers were accepted; where calls fail alone, how many of them by the server. */
    public function attackers_admitted(bool $windows): int
    {
        $of = fn (string $id): bool => is_window($id) === $windows && ($this->store->fail_alone === null || str_ends_with($id, ' 0'));
        return array_sum(array_column(array_filter($this->bounds, $of, ARRAY_FILTER_USE_KEY), 'count'));
    }

    /**
     * The most calls that all buckets, or all windows, together may accept: their servers' while up, and this host's own
     * while not.
     */
    public function bound(bool $windows, int $from, int $to, array $outages): int
    {
        $total = 0;
        foreach ($this->store->hot as $id => $node) {
            if (is_window($id) !== $windows) {
                continue;
            }
            $up = $down = [];
            // A client's last call may end after the time is up.
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

    /** Joins the spans that overlap. */
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
