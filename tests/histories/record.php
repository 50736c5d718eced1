<?php
/*
 * Records histories: processes call one limit at a time on a store while some of them are killed or paused.
 * Usage: php record.php DSN FOLDER SECONDS [ours|get-and-set]. docs/exactness.md has the format of the files.
 */
require __DIR__ . '/callers.php';

const PROCESSES = 5;
const CALLS = 40;

[, $dsn, $folder, $seconds] = $argv;
// On these one process asks for equal calls of others, too. If it dies or is stopped they ask again, and what it took is lost:
// at most four tokens for each of them, twice in a round.
$lost = preg_match('/^(memcached|mysql)/', $dsn) ? 2 * 4 * (PROCESSES - 1) : 0;
if (str_starts_with($dsn, 'mysql')) {
    (new TokenBucket\MysqlStorage($dsn))->prepare();
}
// Times are read in whole microseconds; on a database a process may estimate the server's clock from an earlier reading.
$clock_error = str_starts_with($dsn, 'mysql') ? 20_000_000 : 5_000;
$make = CALLERS[$argv[4] ?? 'ours'];
mt_srand((int) (getenv('SEED') ?: random_int(0, 1 << 30)));

/** Nanoseconds since 1970, in whole microseconds. */
function now(): int
{
    ['sec' => $sec, 'usec' => $usec] = gettimeofday();
    return ($sec * 1_000_000 + $usec) * 1_000;
}

/** Calls a limit and writes down when, what and the answer. */
function call_and_record(string $file, string $process, string $key, Closure $call, int $seed): never
{
    mt_srand($seed);
    $out = fopen($file, 'ab');
    stream_set_write_buffer($out, 0);
    for ($i = 0; $i < CALLS; $i++) {
        $op = OPS[mt_rand(0, count(OPS) - 1)];
        fwrite($out, "begin $process $key " . now() . " $op\n");
        $answer = $call(explode(' ', $op));
        // What is not known is not written: the call may have been decided or not, and the process goes on as another.
        if ($answer === null) {
            $process .= '+';
            continue;
        }
        fwrite($out, "end $process " . now() . " $answer\n");
    }
    // Nothing that was inherited may run.
    posix_kill(getmypid(), SIGKILL);
    exit;
}

$until = hrtime(true) + (int) ($seconds * 1e9);
$run = dechex(random_int(1 << 28, (1 << 32) - 1));
for ($round = 0; $round === 0 || hrtime(true) < $until; $round++) {
    $key = "history-$run-$round";
    [$algorithm, $limit, $interval] = LIMITS[$round % count(LIMITS)];
    $lines = "limit $key $algorithm $limit $interval $lost $clock_error\n";
    $pids = [];
    for ($i = 0; $i < PROCESSES; $i++) {
        $seed = mt_rand();
        $pid = pcntl_fork();
        if ($pid === 0) {
            call_and_record("$folder/$round-$i", "$round.$i", $key, $make($dsn, $key, $algorithm, $limit, $interval), $seed);
        }
        $pids[$pid] = "$round.$i";
    }
    usleep(mt_rand(500, 4_000));
    // One is stopped in the middle of a call, and one killed.
    [$paused, $killed] = (array) array_rand($pids, 2);
    posix_kill($paused, SIGSTOP);
    usleep(mt_rand(0, 3_000));
    posix_kill($killed, SIGKILL);
    usleep(mt_rand(0, 3_000));
    posix_kill($paused, SIGCONT);
    foreach ($pids as $pid => $process) {
        pcntl_waitpid($pid, $status);
        $lines .= "died $process " . now() . "\n";
    }
    file_put_contents("$folder/$round", $lines);
}
