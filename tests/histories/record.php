<?php
/*
 * Records histories: processes call one key at a time on a store while some of them are killed or paused.
 * Usage: php record.php CASE STORE FOLDER SECONDS [FAULT]
 * CASE: a function of ours.php or rivals.php. STORE: a DSN; with a FAULT redis, memcached, mariadbd or mysqld, which is then started.
 * FAULT: stop, restart, or cut: answers come late or not at all; failover, of a sentinel or a cluster. tests/histories/check/main.rs has the
 * format of the files.
 *
 * What a history may show beside the pure function:
 * - Tokens that are lost. On memcached, MariaDB and MySQL one process asks for equal calls of others, too. If it dies or is stopped they ask
 *   again, and what it took is lost: up to four tokens for each of them, twice in a round, 32. A call whose connection ends is repeated, and
 *   may be charged twice: 20 tokens more where a server is killed; where answers are cut 32 more on Redis, and 160 on memcached, where
 *   the call may be one for all five.
 * - A clock. On MariaDB and MySQL a process estimates the server's clock from an earlier reading: a decision's time may lie 20 ms outside the
 *   call, elsewhere 5 µs, as clocks are read in microseconds. A clock that is behind the one that wrote the state, by twice that at most, decides
 *   by that one. So fixed windows of 20 ms show little on databases; those of an hour show all. Sliding windows are decided by a reading
 *   within the call.
 * - A fail-over (failovers.php). The replica has each answer that its master gave 5 ms before it was killed, or before the replica was cut off,
 *   and has them in order. A master that leaves in order loses nothing. A replica that has just synchronised gets nothing new for up to a
 *   second (Redis 7.0.15), though INFO calls it online: the histories found that, and wait for it.
 * - A sliding window in shared memory takes its hits one by one. A call may see hits of calls beside it that give them back, and be denied
 *   for them; a killed one leaves what it had; what is left is not checked there. A process that is suspended within its call while a hit is given
 *   back may take its place by the time of the call's begin: that hit leaves too early. No history showed that.
 * - Where numbers change the pure function is held to what both sets of numbers hold and the faster one gets back
 *   (src/limit/emptied/tests.rs, two_sets_of_numbers_admit_what_both_hold_and_one_gets_back).
 * - A bucket, fixed or calendar window with lease=10 is denied only if no more than 40 tokens are left. settle() is judged where all is back
 *   after an hour or later.
 */
require dirname(__DIR__, 2) . '/php-tests/servers.inc';
require __DIR__ . '/ours.php';
require __DIR__ . '/rivals.php';
require __DIR__ . '/faults.php';
require __DIR__ . '/failovers.php';

const PROCESSES = 5;
const CALLS = 40;
/** A rival's process ends after so many seconds: one that was killed while it had APCu's lock leaves all others waiting for it. */
const RIVALS_MOST_SECONDS = 30;

/** One round: the `limit` lines of its key, and what makes, in a process, a function that tells its next operation and how to make it. */
final class Round
{
    /** @param list<string> $limits */
    public function __construct(public readonly array $limits, public readonly Closure $caller)
    {
    }
}

[, $case, $store, $folder, $seconds] = $argv;
$faults = isset($argv[5]) ? new Faults($argv[5], $store) : null;
$dsn = $faults ? $faults->dsn() : $store;
$is_rival = preg_match('/^(get_and_set|symfony|laravel)_/', $case) === 1;
$is_database = str_starts_with($dsn, 'mysql');
// On these one process asks for equal calls of others, too. If it dies or is stopped they ask again, and what it took is lost:
// at most four tokens for each of them, twice in a round. A call whose answer is cut may be repeated.
$lost = (preg_match('/^(memcached|mysql)/', $dsn) ? 2 * 4 * (PROCESSES - 1) : 0) + ($faults?->lost() ?? 0);
if ($is_database && !$faults) {
    prepared($dsn);
}
// Times are read in whole microseconds; on a database a process may estimate the server's clock from an earlier reading, but
// for a sliding window.
$clock_error = fn (string $limit): int => $is_database && !str_starts_with($limit, 'sliding') ? 20_000_000 : 5_000;
mt_srand((int) (getenv('SEED') ?: random_int(0, 1 << 30)));

/** Nanoseconds since 1970, in whole microseconds. */
function now(): int
{
    ['sec' => $sec, 'usec' => $usec] = gettimeofday();
    return ($sec * 1_000_000 + $usec) * 1_000;
}

/** Makes calls and writes down when, what and the answer. */
function call_and_record(string $file, string $process, string $key, Closure $next, int $seed, int $pause): never
{
    mt_srand($seed);
    pcntl_alarm($GLOBALS['is_rival'] ? RIVALS_MOST_SECONDS : 0);
    $out = fopen($file, 'ab');
    stream_set_write_buffer($out, 0);
    for ($i = 0; $i < CALLS; $i++) {
        [$op, $call] = $next();
        fwrite($out, "begin $process $key " . now() . " $op\n");
        $answer = $call();
        // If it is not known, the call may have been decided or not, as of one that died, and the process goes on as another.
        fwrite($out, ($answer === null ? "died $process " . now() : "end $process " . now() . " $answer") . "\n");
        $process .= $answer === null ? '+' : '';
        $pause === 0 || usleep(mt_rand(0, $pause));
    }
    // Nothing that was inherited may run.
    posix_kill(getmypid(), SIGKILL);
    exit;
}

/** The processes of a key: their names, by process id. */
function start_processes(Round $round, string $folder, string $key, int $number, float $begin, int $pause): array
{
    $pids = [];
    for ($i = 0; $i < PROCESSES; $i++) {
        $seed = mt_rand();
        $pid = pcntl_fork();
        if ($pid === 0) {
            $caller = ($round->caller)();
            sleep_until($begin);
            call_and_record("$folder/$number-$i", "$number.$i", $key, $caller, $seed, $pause);
        }
        $pids[$pid] = "$number.$i";
    }
    return $pids;
}

function sleep_until(float $time): void
{
    $left = $time - microtime(true);
    $left <= 0 || usleep((int) ($left * 1e6));
}

$until = hrtime(true) + (int) ($seconds * 1e9);
$run = dechex(random_int(1 << 28, (1 << 32) - 1));
$number = 0;
do {
    $count = $faults->keys ?? 1;
    // Where there are several keys, their processes begin together.
    $begin = $count === 1 ? 0.0 : microtime(true) + 0.003 * $count * PROCESSES;
    /** @var array<string, array<int, string>> $running the processes of each key */
    $running = [];
    $lines = '';
    for ($last = $number + $count; $number < $last; $number++) {
        $key = "history-$run-$number";
        $round = $case($case === 'get_and_set_files' || $case === 'laravel_files' ? $folder : $dsn, $key, $number);
        foreach ($round->limits as $limit) {
            // A limit may bring its own bound of what is lost.
            $lines .= "limit $key $limit " . (substr_count($limit, ' ') === 2 ? "$lost " : '') . $clock_error($limit) . "\n";
        }
        $running[$key] = start_processes($round, $folder, $key, $number, $begin, $faults->pause ?? 0);
    }
    sleep_until($begin);
    usleep(mt_rand(500, 4_000));
    // Of each key one is stopped in the middle of a call, and one killed.
    $chosen = array_map(fn (array $pids): array => (array) array_rand($pids, 2), $running);
    $send = fn (int $which, int $signal) => array_map(fn (array $pair): bool => posix_kill($pair[$which], $signal), $chosen);
    $send(0, SIGSTOP);
    usleep(mt_rand(0, 3_000));
    $send(1, SIGKILL);
    foreach ($chosen as $key => [1 => $pid]) {
        pcntl_waitpid($pid, $status);
        $lines .= "died {$running[$key][$pid]} " . now() . "\n";
        unset($running[$key][$pid]);
    }
    usleep(mt_rand(0, 3_000));
    $send(0, SIGCONT);
    $lines .= $faults?->happen(array_keys($running)) ?? '';
    foreach (array_replace(...array_values($running)) as $pid => $process) {
        pcntl_waitpid($pid, $status);
        pcntl_wifsignaled($status) || exit(1);
        $lines .= "died $process " . now() . "\n";
    }
    file_put_contents("$folder/$number", $lines);
} while (hrtime(true) < $until);
