--TEST--
FirstOf: what 8 processes were charged and what is left of each limit is what there was, on every store and on several; also if they are killed
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
use TokenBucket\{FirstOf, FixedWindow, SlidingWindow};

const SIZES = ['quota' => 70, 'pool' => 60, 'credits' => 50];
$make = fn (string $dsn, string $id, ?string $other = null): array => [
    'quota' => new FixedWindow($dsn, "quota:{{$id}}", SIZES['quota'], 3600),
    'pool' => new TokenBucket($other ?? $dsn, "pool:{{$id}}", SIZES['pool'], 0.00001),
    'credits' => new SlidingWindow($dsn, "credits:{{$id}}", SIZES['credits'], 3600),
];
/** Calls with an estimate each, settled at what they cost, at most that. Returns what each limit was charged; $note gets it. */
$work = function (array $limits, int $calls, ?callable $note = null): array {
    $first = new FirstOf(...array_values($limits));
    for ($charged = array_fill_keys(array_keys(SIZES), 0); $calls > 0; $calls--) {
        $estimate = mt_rand(1, 5);
        $decision = $first->attempt($estimate);
        if ($decision->isAccepted()) {
            $cost = mt_rand(0, $estimate);
            $charged[$decision->getChargedTo()[0]] += $decision->settle($cost) === true ? $cost : $estimate;
        }
        $note && $note($charged);
    }
    return $charged;
};
$sum = fn (array $each): array => array_map(fn (string $name): int => array_sum(array_column($each, $name)), array_combine(array_keys(SIZES), array_keys(SIZES)));
$left = fn (array $limits): array => array_map(fn ($limit): int => $limit->peek(0)->getRemainingTokens(), $limits);
$stores = array_map(fn (string $dsn): array => [$dsn, null], ['shm' => 'shm:first'] + race_dsns());
$stores['several'] = ['shm:first', server_dsn('TB_REDIS')];
foreach ($stores as $name => [$dsn, $other]) {
    $id = bin2hex(random_bytes(8));
    $charged = $sum(array_map(json_decode(...), in_processes(8, function (int $process) use ($make, $dsn, $other, $id, $work) {
        mt_srand($process);
        return json_encode($work($make($dsn, $id, $other), 20));
    })));
    foreach ($left($make($dsn, $id, $other)) as $limit => $rest) {
        if ($charged[$limit] + $rest !== SIZES[$limit]) {
            echo "$name, $limit: $charged[$limit] charged, $rest left\n";
        }
    }
    if ($charged['credits'] === 0) {
        echo "$name: the last limit was not reached\n";
    }

    // Killed at any moment: of the last call it is not known how far it came. One that was in its turn is waited for, an eighth
    // of a call's time.
    [$dsn, $other] = [with($dsn, 'timeout_ms=2000'), $other === null ? null : with($other, 'timeout_ms=2000')];
    $id = bin2hex(random_bytes(8));
    $files = [];
    for ($killed = 0; $killed < 8; $killed++) {
        $files[] = $file = temporary_file();
        if (($pid = pcntl_fork()) === 0) {
            mt_srand($killed);
            $log = fopen($file, 'ab');
            stream_set_write_buffer($log, 0);
            $work($make($dsn, $id, $other), 1_000_000, fn (array $charged) => fwrite($log, pack('q3', ...array_values($charged))));
        }
        wait_until(function () use ($file): bool {
            clearstatcache();
            return filesize($file) > 24;
        });
        usleep(mt_rand(0, 2_000));
        posix_kill($pid, SIGKILL);
        pcntl_waitpid($pid, $status);
    }
    $last = fn (string $file): array => array_combine(array_keys(SIZES), unpack('q3', substr(file_get_contents($file), 24 * (intdiv(filesize($file), 24) - 1), 24)));
    $charged = $sum(array_map($last, $files));
    $lost = 0;
    foreach ($left($make($dsn, $id, $other)) as $limit => $rest) {
        $lost += $missing = SIZES[$limit] - $rest - $charged[$limit];
        // Each has charged at most one call of 5 that it could not note, or not settle.
        if ($missing < 0 || $missing > 8 * 5) {
            echo "$name, $limit, killed: $charged[$limit] charged, $rest left\n";
        }
    }
    if ($lost > 8 * 5) {
        echo "$name, killed: $lost lost\n";
    }
}
echo "done\n";
?>
--EXPECT--
done
