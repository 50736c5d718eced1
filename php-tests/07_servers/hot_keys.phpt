--TEST--
memcached, MariaDB, MySQL: 8 and 100 processes at one key are accepted exactly as often as its limit says, also while processes are killed
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/processes.inc';

/** The tokens of each bucket, and the hits of each window. */
const LIMIT = 500;

/** How often $count processes are accepted, which ask for one key until they are denied. */
function accepted(int $count, Closure $limiter): int
{
    return array_sum(in_processes($count, function () use ($limiter): int {
        $limit = $limiter();
        // A hundred processes that connect at once wait for each other, and not all get their turn within the time.
        wait_until(function () use ($limit): bool {
            try {
                $limit->peek();
                return true;
            } catch (TokenBucket\StorageException) {
                return false;
            }
        });
        for ($accepted = 0; $limit->attempt()->isAccepted(); $accepted++);
        return $accepted;
    }));
}

foreach (['TB_MEMCACHED', 'TB_MARIADB', 'TB_MYSQL'] as $name) {
    $dsn = server_dsn($name);
    foreach ([8, 100] as $count) {
        $id = "hot:$count:" . getmypid();
        echo "$name, $count processes: ",
            accepted($count, fn () => new TokenBucket($dsn, $id, LIMIT, 1e-4)), ' tokens, ',
            accepted($count, fn () => new TokenBucket\FixedWindow($dsn, $id, LIMIT, 3600)), ' hits, ',
            accepted($count, fn () => new TokenBucket\SlidingWindow($dsn, $id, LIMIT, 3600)), " hits that slide\n";
    }
    // Calls of two kinds take turns.
    $id = 'kinds:' . getmypid();
    $each = in_processes(8, function (int $process) use ($dsn, $id): int {
        $bucket = new TokenBucket($dsn, $id, LIMIT, 1e-4);
        $cost = $process % 2 + 1;
        for ($taken = 0; $bucket->attempt($cost)->isAccepted(); $taken += $cost);
        return $taken;
    });
    echo "$name, two kinds: ", array_sum($each), " tokens\n";

    // Killed: what was taken for a killed process and for those that waited for it is lost, and nothing is accepted twice.
    $id = 'killed:' . getmypid();
    $folder = ini_get('token_bucket.shm_path') . "/$name-" . getmypid();
    mkdir($folder);
    $children = [];
    for ($i = 0; $i < 12; $i++) {
        $children[$i] = pcntl_fork();
        if ($children[$i] === 0) {
            $bucket = new TokenBucket($dsn, $id, 1_000_000, 0.01);
            $log = fopen("$folder/$i", 'w');
            while (true) {
                if ($bucket->attempt()->isAccepted()) {
                    fwrite($log, '.');
                }
            }
        }
    }
    $missing = fn (): int => 1_000_000 - (new TokenBucket($dsn, $id, 1_000_000, 0.01))->peek()->getRemainingTokens();
    foreach ($children as $i => $child) {
        $before = $missing();
        // On a busy machine it may not have begun.
        wait_until(fn (): bool => $missing() >= $before + 20 && file_exists("$folder/$i"));
        posix_kill($child, SIGKILL);
        pcntl_waitpid($child, $status);
    }
    $accepted = array_sum(array_map(fn (int $i): int => filesize("$folder/$i"), array_keys($children)));
    $lost = $missing() - $accepted;
    // Of each kill at most a batch: those that are still there. One more is the killed process itself.
    echo "$name, killed: ", $lost >= 0 && $lost <= 12 * 13 ? 'no token was given twice' : "$accepted accepted, $lost lost", "\n";
    remove($folder);
}
?>
--EXPECT--
TB_MEMCACHED, 8 processes: 500 tokens, 500 hits, 500 hits that slide
TB_MEMCACHED, 100 processes: 500 tokens, 500 hits, 500 hits that slide
TB_MEMCACHED, two kinds: 500 tokens
TB_MEMCACHED, killed: no token was given twice
TB_MARIADB, 8 processes: 500 tokens, 500 hits, 500 hits that slide
TB_MARIADB, 100 processes: 500 tokens, 500 hits, 500 hits that slide
TB_MARIADB, two kinds: 500 tokens
TB_MARIADB, killed: no token was given twice
TB_MYSQL, 8 processes: 500 tokens, 500 hits, 500 hits that slide
TB_MYSQL, 100 processes: 500 tokens, 500 hits, 500 hits that slide
TB_MYSQL, two kinds: 500 tokens
TB_MYSQL, killed: no token was given twice
