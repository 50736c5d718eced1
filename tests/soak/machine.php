<?php
/*
 * The load of the machine, measured by the controls: they sleep, and ask a server that is never stopped. A control
 * that was late excuses a late call within a few seconds of it, and nothing else.
 */

final class Machine
{
    /** @var array<int, int> the most that a control overslept, ns, by second */
    private array $waits = [];

    /** @var array<int, int> how often the control's server took longer than half of a call's time-out, by second */
    private array $stalls = [];

    public int $controls = 0;
    public int $pings = 0;

    public function add(int $second, array $seen): void
    {
        $this->controls += count($seen['waits']);
        $this->pings += $seen['pings'];
        $this->waits[$second] = max([$this->waits[$second] ?? 0, ...$seen['waits']]);
        if ($seen['stalls'] > 0) {
            $this->stalls[$second] = ($this->stalls[$second] ?? 0) + $seen['stalls'];
        }
    }

    /** By how much a call at that time may be late because the machine was busy, ns. */
    public function tolerance(int $at): int
    {
        return OWN_WORK + LATE_WAITS + $this->overslept($at);
    }

    /** The most that a control overslept within five seconds of a time, ns. */
    public function overslept(int $at): int
    {
        $around = intdiv($at, 1_000_000_000);
        return max(array_map(fn (int $second): int => $this->waits[$second] ?? 0, range($around - 5, $around + 5)));
    }

    /** Whether a busy machine may have kept a server from answering between these times. */
    public function stalled(int $from, int $to): bool
    {
        [$first, $last] = [intdiv($from, 1_000_000_000) - 2, intdiv($to, 1_000_000_000) + 2];
        return (bool) array_filter(array_keys($this->stalls), fn (int $second): bool => $first <= $second && $second <= $last);
    }

    public function summary(): string
    {
        return sprintf(
            'The controls overslept by %.1f ms at most in %d sleeps; their server took longer than half a time-out in %d of %d requests.',
            max([0, ...$this->waits]) / 1e6, $this->controls, array_sum($this->stalls), $this->pings,
        );
    }
}
