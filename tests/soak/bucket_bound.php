<?php
/*
 * The bound that a bucket must not exceed in any stretch of time: capacity + rate x time, plus one capacity for each
 * time that the bucket was lost with its server. Where the host takes tokens ahead, a stretch may hold a lease more; all calls
 * together may not.
 *
 * Every stretch is looked at that begins with a call's `before` and ends with a call's `after`; no other can hold more. A
 * token counts as the time in which it comes back (`interval`).
 */
final class BucketBound extends Bound
{
    /** @var list<int> `before` of the calls that were looked at and may be within a stretch that is still to come */
    private array $recent = [];

    /** @var array<int, int> by the beginning of a stretch: the beginning plus the calls accepted since, ns */
    private array $stretches = [];

    /** The calls that were looked at and are within the bound, and how often the bucket was lost before `forget` dropped it. */
    private int $within = 0;
    private int $lost_before = 0;

    public function __construct(private readonly int $capacity, private readonly int $interval, private readonly int $lease = 0)
    {
    }

    protected function look(int $before, int $after): void
    {
        $new = !isset($this->stretches[$before]);
        $this->stretches[$before] ??= $before + $this->interval * count(array_filter($this->recent, fn (int $begun): bool => $begun >= $before));
        $concerned = array_filter($this->stretches, fn (int $from): bool => $from <= $before, ARRAY_FILTER_USE_KEY);
        $full = $this->capacity * $this->interval;
        // All calls since the first.
        $over = $this->first + ($this->within + 1) * $this->interval - $after - $full * (1 + $this->lost_before + $this->losses(0, $after));
        foreach ($concerned as $from => $sum) {
            $over = max($over, $sum + $this->interval - $after - $full * (1 + $this->losses($from, $after)) - $this->lease * $this->interval);
        }
        if ($over > 0) {
            // Left out of the sums, so that later calls are not blamed for it.
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
        $this->within++;
    }

    /** Forgets what no later call can matter to: of all stretches that begin before `from`, the fullest is kept. */
    protected function forget(int $from): void
    {
        $this->recent = array_values(array_filter($this->recent, fn (int $begun): bool => $begun >= $from));
        $fullest = [];
        $later = [];
        foreach ($this->stretches as $begun => $sum) {
            if ($begun >= $from) {
                $later[$begun] = $sum;
                continue;
            }
            // These losses are within every later end of this stretch: they are added now.
            $sum -= $this->capacity * $this->interval * $this->losses($begun, $from - 1);
            if (!$fullest || $sum > end($fullest)) {
                $fullest = [$begun => $sum];
            }
        }
        $this->lost_before += $this->losses(0, $from - 1);
        $this->losses = array_values(array_filter($this->losses, fn (int $at): bool => $at >= $from));
        $this->stretches = $fullest + $later;
    }

    /**
     * The most calls that can be accepted in these spans: what the bucket holds when a span begins, and what comes
     * back until its end.
     *
     * @param list<array{int, int, bool}> $spans from, to, and whether the bucket was lost before it
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
