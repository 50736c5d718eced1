--TEST--
Decision: settle(): what 8 processes were charged and what is left is what there was, on every store, also with leases; a process that is killed leaves its last call open; calls that leave tokens take the rest
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.shm_size=4M
--FILE--
<?php
require dirname(__DIR__) . '/processes.inc';
require dirname(__DIR__) . '/servers.inc';
use TokenBucket\{CalendarWindow, Compound, Decision, FixedWindow, SlidingWindow};

const LIMIT = 1_000;
const LEASE = 20;
$kinds = [
    'bucket' => fn (string $dsn, string $id) => new TokenBucket($dsn, $id, LIMIT, 0.00001),
    'leased' => fn (string $dsn, string $id) => new TokenBucket(with($dsn, 'lease=' . LEASE), $id, LIMIT, 0.00001),
    'leased window' => fn (string $dsn, string $id) => new FixedWindow(with($dsn, 'lease=' . LEASE), $id, LIMIT, 3600),
    'window' => fn (string $dsn, string $id) => new FixedWindow($dsn, $id, LIMIT, 3600),
    'sliding' => fn (string $dsn, string $id) => new SlidingWindow($dsn, $id, LIMIT, 3600),
    'calendar' => fn (string $dsn, string $id) => new CalendarWindow($dsn, $id, LIMIT, 'year'),
    'both' => fn (string $dsn, string $id) => new Compound(new TokenBucket($dsn, "{{$id}}a", LIMIT, 0.00001), new FixedWindow($dsn, "{{$id}}b", LIMIT, 3600)),
];
// A bucket below empty tells by its time how far; a window is too large to be used up. The least that is left, and what is used.
$by_time = fn (Decision $decision): int => (int) round($decision->getResetAfter() * 0.00001);
$killed_kinds = [
    'bucket' => [$kinds['bucket'], 0, $by_time],
    'leaving' => [$kinds['bucket'], 50, $by_time],
    'calendar' => [fn (string $dsn, string $id) => new CalendarWindow($dsn, $id, 1_000_000, 'year'), 0, fn (Decision $decision): int => $decision->getUsedTokens()],
];
/** Calls with an estimate each, settled at what they cost. Returns what they were charged; $note gets each sum. */
$work = function ($limiter, int $calls, ?callable $note = null, int $leave = 0): int {
    for ($charged = 0; $calls > 0; $calls--) {
        [$estimate, $cost] = [mt_rand(1, 5), mt_rand(0, 8)];
        $decision = $limiter->attempt($estimate, $leave);
        if ($decision->isAccepted()) {
            $charged += $decision->settle($cost) === true ? $cost : $estimate;
        }
        $note && $note($charged);
    }
    return $charged;
};
foreach (['shm' => 'shm:settle'] + race_dsns() as $name => $dsn) {
    foreach ($kinds as $kind => $make) {
        $id = bin2hex(random_bytes(8));
        $charged = array_sum(in_processes(8, function (int $process) use ($make, $dsn, $id, $work) {
            mt_srand($process);
            return $work($make($dsn, $id), 12);
        }));
        $left = $make($dsn, $id)->peek(0)->getRemainingTokens();
        // What is left of a lease that has ended goes back with the next batch.
        $least = LIMIT - (str_starts_with($kind, 'leased') ? LEASE : 0);
        if ($charged + $left > LIMIT || $charged + $left < $least) {
            echo "$name, $kind: $charged charged, $left left\n";
        }
    }
    // Calls that leave tokens take exactly the rest.
    foreach (array_diff_key($kinds, ['leased' => 1, 'leased window' => 1]) as $kind => $make) {
        $id = bin2hex(random_bytes(8));
        $accepted = array_sum(in_processes(8, function () use ($make, $dsn, $id): int {
            $limiter = $make($dsn, $id);
            return array_sum(array_map(fn (): int => (int) $limiter->attempt(19, leave: 50)->isAccepted(), range(1, 8)));
        }));
        $left = $make($dsn, $id)->peek(0)->getRemainingTokens();
        if ([$accepted, $left] !== [50, 50]) {
            echo "$name, $kind: $accepted calls left $left\n";
        }
    }
    // Killed at any moment: of the last call it is not known how far it came. One that was in its turn is waited for, an eighth
    // of a call's time.
    $dsn = with($dsn, 'timeout_ms=2000');
    foreach ($killed_kinds as $kind => [$make, $leave, $used_by]) {
        $id = bin2hex(random_bytes(8));
        $files = [];
        for ($killed = 0; $killed < 8; $killed++) {
            $files[] = $file = temporary_file();
            if (($pid = pcntl_fork()) === 0) {
                mt_srand($killed);
                $log = fopen($file, 'ab');
                stream_set_write_buffer($log, 0);
                $work($make($dsn, $id), 1_000_000, fn (int $sum) => fwrite($log, pack('q', $sum)), $leave);
            }
            wait_until(function () use ($file): bool {
                clearstatcache();
                return filesize($file) > 8;
            });
            usleep(mt_rand(0, 3_000));
            posix_kill($pid, SIGKILL);
            pcntl_waitpid($pid, $status);
        }
        $last = fn (string $file): int => unpack('q', substr(file_get_contents($file), 8 * (intdiv(filesize($file), 8) - 1)))[1];
        $charged = array_sum(array_map($last, $files));
        $used = $used_by($make($dsn, $id)->peek(0));
        if ($used < $charged || $used > $charged + 8 * 8) {
            echo "$name, $kind, killed: $charged charged, $used used\n";
        }
    }
}
echo "done\n";
?>
--EXPECT--
done
