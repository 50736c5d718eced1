<?php
/*
 * How many decisions several processes make on buckets in shared memory. They run on all cores.
 */

const MEMORY_SECONDS = 0.4;
/** How many processes, and whether all use one bucket. */
const MEMORY_CASES = ['one process' => [1, true], 'two processes, a bucket each' => [2, false], 'two processes, one bucket' => [2, true], 'four processes, one bucket' => [4, true]];

/** Decisions a second of all processes together, in each round. */
function decisions_in_memory(int $rounds): array
{
    $decisions = array_fill_keys(array_keys(MEMORY_CASES), []);
    for ($round = 0; $round < $rounds; $round++) {
        foreach (in_turn(array_keys(MEMORY_CASES), $round) as $case) {
            [$processes, $is_one] = MEMORY_CASES[$case];
            $done = at_once($processes, fn (int $i): Closure => process_in_memory($is_one ? 'one' : "own$i"));
            $decisions[$case][] = array_sum($done) / MEMORY_SECONDS;
        }
    }
    return $decisions;
}

function process_in_memory(string $id): Closure
{
    $bucket = new TokenBucket('shm:', $id, 1_000_000_000, 250_000_000);
    $bucket->consume();
    return function (int $begin) use ($bucket): int {
        $end = $begin + (int) (MEMORY_SECONDS * 1e9);
        for ($done = 0; hrtime(true) < $end; $done += 1_000) {
            for ($i = 0; $i < 1_000; $i++) {
                $bucket->consume(1);
            }
        }
        return $done;
    };
}
