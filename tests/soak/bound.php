<?php
/*
 * The bound that no bucket may exceed, over any stretch of time: capacity + rate x time, and as much
 * as a capacity more for each time that the bucket was lost with its server.
 *
 * Of a call that was admitted it is known that it was decided between `before` and `after`. Within a
 * stretch are those that began and ended in it. A stretch worth looking at begins where one of them
 * begins and ends where one ends; all of them are looked at. Times count in ns, a token as much as
 * it takes to come back (`interval`).
 */
final class Bound
{
    /** How many calls were admitted above it. */
    public int $exceeded = 0;

    /** How much too early the worst of them was, ns. */
    public int $worst = 0;

    /** How many were admitted. */
    public int $count = 0;

    /** From when to when. */
    public int $first = PHP_INT_MAX;
    public int $last = 0;

    /** @var list<array{int, int}> after and before, of calls to be looked at */
    private array $coming = [];

    /** @var list<int> when the bucket was lost */
    private array $losses = [];

    /** @var list<int> before, of calls that were looked at and lie in stretches which may yet begin */
    private array $recent = [];

    /** @var array<int, int> where stretches begin, and that plus what was admitted since */
    private array $stretches = [];

    public function __construct(private readonly int $capacity, private readonly int $interval)
    {
    }

    public function admitted(int $before, int $after): void
    {
        $this->coming[] = [$after, $before];
        $this->count++;
        $this->first = min($this->first, $before);
        $this->last = max($this->last, $after);
    }

    /** The server was killed, and its next life begins with a full bucket. */
    public function lost(int $at): void
    {
        $this->losses[] = $at;
    }

    /** Judges what ended until then: nothing that is still to be told began before. */
    public function advance(int $until): void
    {
        sort($this->coming);
        $looked_at = 0;
        foreach ($this->coming as [$after, $before]) {
            if ($after >= $until) {
                break;
            }
            $this->look($before, $after);
            $looked_at++;
        }
        array_splice($this->coming, 0, $looked_at);
        $this->forget(min([$until, ...array_column($this->coming, 1)]));
    }

    private function look(int $before, int $after): void
    {
        $losses = fn (int $from): int => count(array_filter($this->losses, fn (int $at): bool => $from <= $at && $at <= $after));
        $new = !isset($this->stretches[$before]);
        $this->stretches[$before] ??= $before + $this->interval * count(array_filter($this->recent, fn (int $begun): bool => $begun >= $before));
        $concerned = array_filter($this->stretches, fn (int $from): bool => $from <= $before, ARRAY_FILTER_USE_KEY);
        $full = $this->capacity * $this->interval;
        $over = PHP_INT_MIN;
        foreach ($concerned as $from => $sum) {
            $over = max($over, $sum + $this->interval - $after - $full * (1 + $losses($from)));
        }
        if ($over > 0) {
            // It is not counted twice, with those that come after.
            $this->exceeded++;
            $this->worst = max($this->worst, $over);
            if ($new) {
                unset($this->stretches[$before]);
            }
            return;
        }
        foreach ($concerned as $from => $sum) {
            $this->stretches[$from] = $sum + $this->interval;
        }
        $this->recent[] = $before;
    }

    /** Nothing begins before `from` any more: of all stretches that did, the fullest is enough. */
    private function forget(int $from): void
    {
        $this->recent = array_values(array_filter($this->recent, fn (int $begun): bool => $begun >= $from));
        $fullest = [];
        $later = [];
        foreach ($this->stretches as $begun => $sum) {
            if ($begun >= $from) {
                $later[$begun] = $sum;
                continue;
            }
            // Losses that are in all that is to come are settled here.
            $sum -= $this->capacity * $this->interval * count(array_filter($this->losses, fn (int $at): bool => $begun <= $at && $at < $from));
            if (!$fullest || $sum > end($fullest)) {
                $fullest = [$begun => $sum];
            }
        }
        $this->losses = array_values(array_filter($this->losses, fn (int $at): bool => $at >= $from));
        $this->stretches = $fullest + $later;
    }

    /**
     * The most that can be admitted while the bucket is in use, from the first to the last moment
     * of each span: what it holds when a span begins, and what comes back until its end.
     *
     * @param list<array{int, int, bool}> $spans from, to, and whether the bucket was lost before
     */
    public function most(array $spans): int
    {
        $full = $this->capacity * $this->interval;
        $total = 0;
        $empty_at = PHP_INT_MIN >> 1;
        foreach ($spans as [$from, $to, $lost]) {
            $total += ($lost ? $full : min($full, $from - $empty_at)) + $to - $from;
            $empty_at = $to;
        }
        return intdiv($total, $this->interval);
    }
}
