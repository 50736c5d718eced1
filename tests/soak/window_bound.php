<?php
/*
 * The bound that a sliding window must not exceed: its limit in any stretch of its interval, and its limit once more for
 * each time that the window was lost with its server.
 *
 * Every stretch is looked at that begins with a call's `before`.
 */
final class WindowBound extends Bound
{
    /** @var list<array{int, int}> `before` and `after` of the calls that were looked at and may be in a stretch with later ones */
    private array $recent = [];

    public function __construct(private readonly int $limit, private readonly int $interval)
    {
    }

    protected function forget(int $from): void
    {
        // A later call that began before this time is known, and ends after the interval of what is forgotten.
        $this->recent = array_values(array_filter($this->recent, fn (array $call): bool => $call[0] > $from - $this->interval));
        $this->losses = array_values(array_filter($this->losses, fn (int $at): bool => $at > $from - $this->interval));
    }

    protected function look(int $before, int $after): void
    {
        $earliest = PHP_INT_MAX;
        $this->recent[] = [$before, $after];
        foreach ($this->recent as [$from]) {
            if ($from > $before || $from + $this->interval <= $after) {
                continue;
            }
            $within = count(array_filter($this->recent, fn (array $call): bool => $call[0] >= $from));
            if ($within > $this->limit * (1 + $this->losses($from, $after))) {
                $earliest = min($earliest, $from);
            }
        }
        if ($earliest < PHP_INT_MAX) {
            // Left out, so that later calls are not blamed for it.
            array_pop($this->recent);
            $this->exceeded++;
            $this->worst = max($this->worst, $earliest + $this->interval - $after);
        }
    }

    /**
     * The most calls that can be accepted in these spans: the whole limit when a span begins, unless it was used less than
     * an interval before, and again after each interval.
     *
     * @param list<array{int, int, bool}> $spans from, to, and whether the window was lost before it
     */
    public function most(array $spans): int
    {
        $times = 0;
        $next = PHP_INT_MIN;
        foreach ($spans as [$from, $to, $lost]) {
            for ($at = $lost ? $from : max($from, $next); $at <= $to; $at += $this->interval) {
                $times++;
            }
            $next = $at;
        }
        return $times * $this->limit;
    }
}
