<?php
/*
 * Debian's promtool.
 */
declare(strict_types=1);

/**
 * Runs promtool; returns `passes`, or its status and what it printed.
 *
 * @param list<string> $arguments
 */
function promtool(array $arguments, string $input = ''): string
{
    $process = proc_open(['promtool', ...$arguments], [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
    // promtool reads all of its input before it prints.
    fwrite($pipes[0], $input);
    fclose($pipes[0]);
    $output = stream_get_contents($pipes[1]);
    $status = proc_close($process);
    return $status === 0 ? "passes" : "status $status\n$output";
}
