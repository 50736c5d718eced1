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
    $shm = limiters()['shm'];
    $decisions = array_fill_keys(array_keys(MEMORY_CASES), []);
    for ($round = 0; $round < $rounds; $round++) {
        foreach (in_turn(array_keys(MEMORY_CASES), $round) as $case) {
            [$processes, $is_one] = MEMORY_CASES[$case];
            $decisions[$case][] = decisions_a_second($shm, $processes, $is_one, MEMORY_SECONDS);
        }
    }
    return $decisions;
}
