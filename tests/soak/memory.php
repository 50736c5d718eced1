<?php
/*
 * The memory of the pool's processes. Shared pages count in proportion (PSS); a process's own memory must not grow.
 */
final class Memory
{
    /** The age, in ns, at which a worker has done everything once. */
    private const WARM = 4_000_000_000;

    /** @var array<int, array{int, ?int, int}> by process: when first seen, its own kB when warm, and its own kB now */
    private array $workers = [];
    /** The most that one of them has grown, in kB. */
    private int $grown = 0;
    private array $master = [];
    /** @var list<int> PSS of a worker, on average: the first and the last that were seen */
    private array $total = [];

    public function look(Fpm $fpm): void
    {
        $now = hrtime(true);
        $total = 0;
        foreach ($fpm->workers() as $pid) {
            $of = self::of($pid);
            if ($of === null) {
                continue;
            }
            $this->workers[$pid] ??= [$now, null, 0];
            if ($now > $this->workers[$pid][0] + self::WARM) {
                $this->workers[$pid][1] ??= $of['Anonymous'];
                $this->workers[$pid][2] = $of['Anonymous'];
            }
            $total += $of['Pss'];
        }
        $this->total = [$this->total[0] ?? intdiv($total, WORKERS), intdiv($total, WORKERS)];
        $of = self::of($fpm->master());
        $this->master = [$this->master[0] ?? $of, $of];
        $this->forget($fpm);
    }

    private function forget(Fpm $fpm): void
    {
        foreach ($this->workers as $pid => [, $warm, $last]) {
            $this->grown = max($this->grown, $last - ($warm ?? $last));
        }
        $this->workers = array_intersect_key($this->workers, array_flip($fpm->workers()));
    }

    /** The most that one worker's own memory has grown since it was warm, in kB. */
    public function grown(): int
    {
        return $this->grown;
    }

    public function master_grown(): int
    {
        return $this->master[1]['Anonymous'] - $this->master[0]['Anonymous'];
    }

    public function summary(): string
    {
        return sprintf(
            'Memory, kB: a worker (PSS, mean) %s at the start, %s at the end, of its own at most %d more than when it was warm; the master %d, then %d, of its own %+d.',
            number_format($this->total[0]), number_format($this->total[1]), $this->grown, $this->master[0]['Pss'], $this->master[1]['Pss'], $this->master_grown(),
        );
    }

    /** @return ?array<string, int> kB; null if the process has ended */
    private static function of(int $pid): ?array
    {
        preg_match_all('/^(Pss|Anonymous): +(\d+) kB/m', (string) @file_get_contents("/proc/$pid/smaps_rollup"), $found);
        return count($found[1]) === 2 ? array_combine($found[1], array_map(intval(...), $found[2])) : null;
    }
}
