<?php

/*
 * Eight processes take tokens, hits and permits, while one after the other is killed: 1,000 in all. No limit is exceeded, and what is
 * missing in the end is no more than what killed processes had taken.
 * Usage: kills.php [KILLS]    SEED= has them killed in the order of an earlier run
 */

declare(strict_types=1);

use TokenBucket\{ConcurrencyLimit, FixedWindow, Limiter, SlidingWindow};

require __DIR__ . '/../../../php-tests/check.inc';

const CAPACITY = 100_000;
const PERMITS = 3;

$kills = (int) ($argv[1] ?? 1_000);
mt_srand($seed = (int) (getenv('SEED') ?: random_int(1, 999_999)));
$folder = temporary_folder();

/** @return array<string, Limiter> */
function limiters(): array
{
    return [
        'bucket' => new TokenBucket('shm:kills', 'bucket', CAPACITY, CAPACITY / 1e8),
        'fixed window' => new FixedWindow('shm:kills', 'window', CAPACITY, 1e8),
        'sliding window' => new SlidingWindow('shm:kills', 'window', 1_024, 1e8),
    ];
}

/** Takes one of so many files as there are permits: it is free, for another process that had it has given its permit back, or ends. */
function enter(string $folder)
{
    for ($try = 0; $try < 200; $try++) {
        foreach (range(1, PERMITS) as $place) {
            $file = fopen("$folder/place$place", 'c');
            if (flock($file, LOCK_EX | LOCK_NB)) {
                return $file;
            }
        }
        usleep(1_000);
    }
    file_put_contents("$folder/crowded", 'x', FILE_APPEND);
    return null;
}

function work(string $folder): never
{
    $limiters = limiters();
    $permits = new ConcurrencyLimit('shm:kills', 'permits', PERMITS);
    $logs = array_map(static fn (string $name) => fopen("$folder/$name", 'ab'), array_combine(array_keys($limiters), array_keys($limiters)));
    array_map(static fn ($log) => stream_set_write_buffer($log, 0), $logs);
    while (true) {
        foreach ($limiters as $name => $limiter) {
            // A byte that is missing because the process was killed is a token that is lost, never one too many.
            $limiter->consume() && fwrite($logs[$name], '.');
        }
        $permit = $permits->acquire();
        if ($permit !== null) {
            $place = enter($folder);
            file_put_contents("$folder/entered", '.', FILE_APPEND);
            $place !== null && fclose($place);
            $permit->release();
        }
    }
}

// What the classes are loaded from is read once, not by each process.
array_map(static fn (Limiter $limiter): bool => $limiter->peek()->isAccepted(), limiters());
(new ConcurrencyLimit('shm:kills', 'permits', PERMITS))->getActive();
$workers = [];
for ($killed = 0; $killed < $kills + 8; $killed++) {
    while (count($workers) < 8 && $killed <= $kills) {
        $pid = pcntl_fork();
        $pid === 0 ? work($folder) : ($workers[] = $pid);
    }
    $killed < $kills && usleep(mt_rand(0, 6_000));
    $victim = array_splice($workers, mt_rand(0, count($workers) - 1), 1)[0];
    posix_kill($victim, SIGKILL);
    pcntl_waitpid($victim, $status);
}

foreach (limiters() as $name => $limiter) {
    $given = filesize("$folder/$name");
    $left = $limiter->peek(0)->getRemainingTokens();
    $capacity = $limiter->peek(0)->getLimit();
    $lost = $capacity - $given - $left;
    echo "$name: $given given, $left of $capacity left, $lost lost\n";
    check("$name: no more is given than there was, and a kill loses one at most", $given > 100 && $lost >= 0 && $lost <= $kills + 8);
}
$active = (new ConcurrencyLimit('shm:kills', 'permits', PERMITS))->getActive();
$crowded = is_file("$folder/crowded") ? filesize("$folder/crowded") : 0;
echo 'permits: ', filesize("$folder/entered"), " taken, $crowded too many, $active held in the end; SEED=$seed\n";
check('there are never too many permits, and none is left', $crowded === 0 && $active === 0);
