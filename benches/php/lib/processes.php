<?php
/*
 * Processes: those that begin at once come from the tests' harness.
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
