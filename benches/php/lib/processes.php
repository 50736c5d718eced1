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

/** Binds these processes, with all their threads, to the first core. */
function on_one_core(array $pids): void
{
    foreach ($pids as $pid) {
        exec("taskset -acp 0 $pid 2>&1", $output, $status);
        $status === 0 || throw new RuntimeException("taskset: " . implode(' ', $output));
    }
}
