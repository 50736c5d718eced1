<?php
/*
 * What the subjects of the benchmarks share: start with this.
 */

// Some of what is compared is older than PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED);
set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    // A limiter that complains is not doing what is measured.
    if (error_reporting() & $level) {
        throw new ErrorException($message, 0, $level, $file, $line);
    }
    return false;
});

set_exception_handler(function (Throwable $e): never {
    fwrite(STDERR, "The benchmark failed: {$e->getMessage()} ({$e->getFile()}:{$e->getLine()})\n");
    exit(1);
});

require __DIR__ . '/statistics.php';
require __DIR__ . '/data.php';
require __DIR__ . '/processes.php';
require __DIR__ . '/../limiters/limiter.php';

/** How often everything is measured, in turn; BENCH_ROUNDS changes it for a quick look. */
function rounds(int $usual): int
{
    return (int) (getenv('BENCH_ROUNDS') ?: $usual);
}

/** In another order each round, the same in every run: who comes after whom matters to a server's place among the cores. */
function in_turn(array $names, int $round): array
{
    mt_srand($round);
    shuffle($names);
    return $names;
}

/** How many calls of $tries take about so long. */
function calls_for(Closure $tries, float $milliseconds): int
{
    for ($n = 1; ; $n *= 2) {
        // The machine may be held up for longer than that: the quickest of three was not.
        $took = INF;
        for ($i = 0; $i < 3; $i++) {
            $start = hrtime(true);
            $tries($n);
            $took = min($took, (hrtime(true) - $start) / 1e6);
        }
        if ($took >= $milliseconds / 4) {
            return max(1, (int) ($n * $milliseconds / $took));
        }
    }
}
