<?php
/*
 * What all subjects of the benchmarks use; each begins by loading it.
 */

// Some of the compared libraries are older than PHP 8.2.
error_reporting(E_ALL & ~E_DEPRECATED);
set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    // A limiter that warns does not do what is measured.
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

/** The number of rounds; a quarter of the usual one if QUICK is set. */
function rounds(int $usual): int
{
    return getenv('QUICK') ? max(1, intdiv($usual, 4)) : $usual;
}

/** Another order in each round, the same in every run: the order changes the core on which a server runs. */
function in_turn(array $names, int $round): array
{
    mt_srand($round);
    shuffle($names);
    return $names;
}

/** The number of calls of $tries that take about so long. */
function calls_for(Closure $tries, float $milliseconds): int
{
    for ($n = 1; ; $n *= 2) {
        // A busy machine may delay a try: the fastest of three counts.
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
