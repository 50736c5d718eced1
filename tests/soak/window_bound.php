<?php
/*
 * The bound that a sliding window must not exceed: its limit in any stretch of its interval, and its limit once more for
 * each time that the window was lost with its server.
 *
 * An accepted call was decided between its `before` and its `after`. A call is within a stretch if both are. Every stretch
 * is looked at that begins with a call's `before`. Times are in ns.
 */
final class WindowBound
{
    /** The number of calls that were accepted above the bound. */
    public int $exceeded = 0;

    /** The most that one of them came too early, ns. */
    public int $worst = 0;

    /** The number of accepted calls. */
    public int $count = 0;

    /** The first `before` and the last `after` of them. */
    public int $first = PHP_INT_MAX;
    public int $last = 0;

    /** @var list<array{int, int}> `after` and `before` of the calls that are not looked at yet */
    private array $coming = [];

    /** @var list<array{int, int}> `before` and `after` of the calls that were looked at and may be in a stretch with later ones */
    private array $recent = [];

    /** @var list<int> the times at which the window was lost */
    private array $losses = [];

    public function __construct(private readonly int $limit, private readonly int $interval)
    {
    }

    public function admitted(int $before, int $after): void
    {
        $this->coming[] = [$after, $before];
        $this->count++;
        $this->first = min($this->first, $before);
        $this->last = max($this->last, $after);
    }

    /** Notes that the server was killed: it restarts with an empty window. */
    public function lost(int $at): void
    {
        $this->losses[] = $at;
    }

    /** Looks at the calls that ended before `until`; calls that began before it must be known by then. */
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
        // A later call that began before this time is known, and ends after the interval of what is forgotten.
        $from = min([$until, ...array_column($this->coming, 1)]);
        $this->recent = array_values(array_filter($this->recent, fn (array $call): bool => $call[0] > $from - $this->interval));
        $this->losses = array_values(array_filter($this->losses, fn (int $at): bool => $at > $from - $this->interval));
    }

    /** Looks at the stretches that end with this call, which is the last one that has ended. */
    private function look(int $before, int $after): void
    {
        $earliest = PHP_INT_MAX;
        $this->recent[] = [$before, $after];
        foreach ($this->recent as [$from]) {
            if ($from > $before || $from + $this->interval <= $after) {
                continue;
            }
            $within = count(array_filter($this->recent, fn (array $call): bool => $call[0] >= $from));
            $losses = count(array_filter($this->losses, fn (int $at): bool => $from <= $at && $at <= $after));
            if ($within > $this->limit * (1 + $losses)) {
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
