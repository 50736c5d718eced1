<?php
declare(strict_types=1);

/*
 * A process of `token-bucket measure`. It reads what to measure from standard input, connects, waits for a line, measures, and waits
 * for another line, so that its connection can be looked at. Each line that it prints is JSON.
 */

$task = json_decode((string) fgets(STDIN), true, 8, JSON_THROW_ON_ERROR);
// No call empties these buckets, and their states expire within a minute, also if this process is killed.
$buckets = array_map(static fn (int $number): TokenBucket => TokenBucket::per($task['dsn'], $task['prefix'] . $number, 1_000_000, 60), range(1, 100));
try {
    array_map(static fn (TokenBucket $bucket): bool => $bucket->consume(), $buckets);
    echo "{}\n";
    // The end of the input: the command has given up.
    if (fgets(STDIN) !== false) {
        [$times, $decisions, $used] = [[], 0, getrusage() ?: []];
        $begin = $now = hrtime(true);
        for ($end = $begin + $task['seconds'] * 1_000_000_000; $now < $end; $decisions++) {
            $before = hrtime(true);
            $buckets[$decisions % 100]->consume();
            $now = hrtime(true);
            // Classes of 2 % put the times of all processes together.
            $class = (int) (log(max(1, $now - $before)) / log(1.02));
            $times[$class] = ($times[$class] ?? 0) + 1;
        }
        $processor = 0.0;
        foreach (getrusage() ?: [] as $name => $value) {
            $processor += preg_match('~^ru_[us]time~', $name) === 1 ? ($value - $used[$name]) / (str_ends_with($name, 'usec') ? 1e6 : 1) : 0;
        }
        echo json_encode(['calls' => $decisions + count($buckets), 'decisions' => $decisions, 'seconds' => ($now - $begin) / 1e9, 'processor' => $processor, 'times' => $times], JSON_THROW_ON_ERROR), "\n";
        fgets(STDIN);
    }
    array_map(static fn (TokenBucket $bucket): mixed => $bucket->reset(), $buckets);
} catch (TokenBucket\StorageException $error) {
    echo json_encode(['error' => $error->getMessage()], JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR), "\n";
}
