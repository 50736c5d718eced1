<?php
/*
 * The bound that a limit must not exceed in any stretch of time.
 *
 * An accepted call was decided between its `before` and its `after`. A call is within a stretch if both are. Times are in
 * ns.
 */
abstract class Bound
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

    /** @var list<int> the times at which the limit was lost with its server */
    protected array $losses = [];

    /** @var list<array{int, int}> `after` and `before` of the calls that are not looked at yet */
    private array $coming = [];

    public function admitted(int $before, int $after): void
    {
        $this->coming[] = [$after, $before];
        $this->count++;
        $this->first = min($this->first, $before);
        $this->last = max($this->last, $after);
    }

    /** Notes that the server was killed: it restarts with a full bucket, or an empty window. */
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
        $this->forget(min([$until, ...array_column($this->coming, 1)]));
    }

    /** How often the limit was lost between two times. */
    protected function losses(int $from, int $to): int
    {
        return count(array_filter($this->losses, fn (int $at): bool => $from <= $at && $at <= $to));
    }

    /** Looks at the stretches that end with this call, which is the last one that has ended. */
    abstract protected function look(int $before, int $after): void;

    /** Forgets what no call can matter to that begins at `from` or later. */
    abstract protected function forget(int $from): void;

    /**
     * The most calls that can be accepted in these spans.
     *
     * @param list<array{int, int, bool}> $spans from, to, and whether the limit was lost before it
     */
    abstract public function most(array $spans): int;
}
