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

/** Binds these processes, with all their threads, to a core, or to a list of cores. */
function on_one_core(array $pids, int|string $core = 0): void
{
    foreach ($pids as $pid) {
        exec("taskset -acp $core $pid 2>&1", $output, $status);
        $status === 0 || throw new RuntimeException("taskset: " . implode(' ', $output));
    }
}

/**
 * Servers have the first core, and this process and those that it starts the second: whether the kernel uses one core or two for a
 * round trip is chance else, and changes its time threefold. At its end the servers have all cores again.
 */
function on_two_cores(array $servers): void
{
    static $all = null;
    $all ??= trim(shell_exec('taskset -cp ' . getmypid() . ' | sed "s/.*: //"'));
    on_one_core($servers, 0);
    on_one_core([getmypid()], 1);
    register_shutdown_function(on_one_core(...), $servers, $all);
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
