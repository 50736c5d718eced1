<?php
/*
 * What the machine was busy with: the control waits by itself and asks a server that nobody stops. What it
 * saw excuses what happened within some seconds of it, and nothing else.
 */

final class Machine
{
    /** @var array<int, int> by how much the control overslept at most, ns, by second */
    private array $waits = [];

    /** @var array<int, int> how often its server took more than half of the time that calls have, by second */
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

    /** By how much a call at that time may have been late for want of a processor, ns. */
    public function tolerance(int $at): int
    {
        $around = intdiv($at, 1_000_000_000);
        return OWN_WORK + LATE_WAITS + max(array_map(fn (int $second): int => $this->waits[$second] ?? 0, range($around - 5, $around + 5)));
    }

    /** Whether it may have kept a server from answering between these times. */
    public function stalled(int $from, int $to): bool
    {
        [$first, $last] = [intdiv($from, 1_000_000_000) - 2, intdiv($to, 1_000_000_000) + 2];
        return (bool) array_filter(array_keys($this->stalls), fn (int $second): bool => $first <= $second && $second <= $last);
    }

    public function tell(): string
    {
        return sprintf(
            'The control overslept by %.1f ms at most, of %d times, and its server took more than half of that time in %d of %d.',
            max([0, ...$this->waits]) / 1e6, $this->controls, array_sum($this->stalls), $this->pings,
        );
    }
}
