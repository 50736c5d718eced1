<?php
/*
 * Processes: those that begin at once come from the tests' harness. What they do at once is counted here.
 */
require_once dirname(__DIR__, 3) . '/php-tests/processes.inc';

/** Nanoseconds for which all threads of a process were on a processor. */
function cpu_time(int $pid): int
{
    $sum = 0;
    foreach (glob("/proc/$pid/task/*/schedstat") as $file) {
        $sum += (int) file_get_contents($file);
    }
    return $sum;
}

/** Binds these processes, with all their threads, to a core. */
function on_one_core(array $pids, int $core = 0): void
{
    foreach ($pids as $pid) {
        exec("taskset -acp $core $pid 2>&1", $output, $status);
        $status === 0 || throw new RuntimeException("taskset: " . implode(' ', $output));
    }
}

/** Decisions a second of all processes together, on one bucket for all or on one bucket each. */
function decisions_a_second(Limiter $limiter, int $count, bool $one_bucket, float $seconds): float
{
    $done = at_once($count, function (int $index) use ($limiter, $one_bucket, $seconds): Closure {
        $tries = ($limiter->open)('throughput' . ($one_bucket ? '' : ":$index"), CAPACITY, RATE);
        $batch = calls_for($tries, 1);
        return function (int $begin) use ($tries, $batch, $seconds): int {
            $end = $begin + (int) ($seconds * 1e9);
            for ($done = 0; hrtime(true) < $end; $done += $batch) {
                $tries($batch);
            }
            return $done;
        };
    });
    return array_sum($done) / $seconds;
}
