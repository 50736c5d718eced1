<?php
/*
 * Processes that begin at once.
 */

/**
 * Forks $count processes; each makes ready with $prepare($index), which gives the work. When all are ready, each does
 * its work, which is told the time to begin.
 *
 * @return array what each returned
 */
function at_once(int $count, callable $prepare): array
{
    $children = [];
    for ($i = 0; $i < $count; $i++) {
        [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $pid = pcntl_fork();
        if ($pid === 0) {
            child($theirs, fn () => $prepare($i));
        }
        fclose($theirs);
        stream_set_timeout($ours, 120);
        $children[$pid] = $ours;
    }
    foreach ($children as $stream) {
        fread($stream, 1) === 'r' || end_all($children, 'A process did not get ready');
    }
    $begin = hrtime(true) + 5_000_000;
    foreach ($children as $stream) {
        fwrite($stream, pack('q', $begin));
    }
    $results = [];
    foreach ($children as $pid => $stream) {
        $result = unserialize((string) stream_get_contents($stream));
        $result !== false || end_all($children, 'A process did not finish');
        $results[] = $result[0];
        pcntl_waitpid($pid, $status);
    }
    return $results;
}

/** @param resource $stream */
function child($stream, callable $prepare): never
{
    try {
        $work = $prepare();
        fwrite($stream, 'r');
        $begin = unpack('q', fread($stream, 8))[1];
        usleep(max(0, intdiv($begin - hrtime(true), 1_000) - 1_000));
        // To wake takes longer than a hundred decisions: those that are on a processor begin at once.
        while (hrtime(true) < $begin) {
        }
        $result = serialize([$work($begin)]);
        for ($sent = 0; $sent < strlen($result); $sent += fwrite($stream, substr($result, $sent, 65_536))) {
        }
        fclose($stream);
    } catch (Throwable $e) {
        fwrite(STDERR, "$e\n");
    }
    // Nothing that the parent opened is closed here.
    posix_kill(posix_getpid(), SIGKILL);
    exit;
}

/** @param array<int, resource> $children by pid */
function end_all(array $children, string $why): never
{
    foreach (array_keys($children) as $pid) {
        posix_kill($pid, SIGKILL);
    }
    fwrite(STDERR, "$why\n");
    exit(1);
}

/** Nanoseconds that all threads of a process were on a processor. */
function cpu_time(int $pid): int
{
    $sum = 0;
    foreach (glob("/proc/$pid/task/*/schedstat") as $file) {
        $sum += (int) file_get_contents($file);
    }
    return $sum;
}

/** Keeps these processes, with all their threads, on the first core. */
function on_one_core(array $pids): void
{
    foreach ($pids as $pid) {
        exec("taskset -acp 0 $pid 2>&1", $output, $status);
        $status === 0 || throw new RuntimeException("taskset: " . implode(' ', $output));
    }
}
