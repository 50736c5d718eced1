<?php
/*
 * The calls whose costs are measured, on one busy bucket or on many quiet ones.
 */

/** The number of quiet buckets: so many that no state is handed on within a host before the next call. */
const QUIET_BUCKETS = 10_000;

/** A function that makes $n accepted calls. */
function scale_calls(?string $dsn, string $keys): Closure
{
    if ($keys === 'hot') {
        $bucket = new TokenBucket($dsn, 'hot', CAPACITY, RATE);
        // The batch of a lease grows while it is used up: by a token, two, four and so on.
        for ($i = 0; $i < 1_000; $i++) {
            $bucket->consume();
        }
        return function (int $n) use ($bucket): void { for ($i = 0; $i < $n; $i++) { $bucket->consume(); } };
    }
    if ($keys === 'denied') {
        $bucket = new TokenBucket($dsn, 'denied', 1, 0.001);
        $bucket->consume();
        return function (int $n) use ($bucket): void { for ($i = 0; $i < $n; $i++) { $bucket->consume(); } };
    }
    $buckets = array_map(fn (int $i) => new TokenBucket($dsn, "quiet:$i", CAPACITY, RATE), range(1, QUIET_BUCKETS));
    $next = 0;
    return function (int $n) use ($buckets, &$next): void {
        for ($i = 0; $i < $n; $i++) {
            // Odd and no divisor: goes through all of them.
            $buckets[$next = ($next + 7_919) % QUIET_BUCKETS]->consume();
        }
    };
}
