<?php
/*
 * The calls whose costs are measured, on one busy bucket or on many quiet ones.
 */

/** A limit that accepts every measured call, and whose buckets do not get full meanwhile: else their keys would expire. */
const SCALE_LIMIT = [1_000_000_000, 1_000];
const TAKEN_BEFORE = 100_000;

/** The number of quiet buckets: so many that one process's state of one is too old to hand off at its next call. */
const QUIET_BUCKETS = 10_000;

/** Takes tokens of each quiet bucket on a store, so that its key or row is there. */
function make_quiet_buckets(?string $dsn): void
{
    foreach (quiet_buckets($dsn) as $bucket) {
        $bucket->consume(TAKEN_BEFORE);
    }
}

/** @return TokenBucket[] */
function quiet_buckets(?string $dsn): array
{
    return array_map(fn (int $i) => new TokenBucket($dsn, "quiet:$i", ...SCALE_LIMIT), range(1, QUIET_BUCKETS));
}

/** A function that makes $n calls; they are accepted, but those on the bucket called denied. */
function scale_calls(?string $dsn, string $keys): Closure
{
    if ($keys !== 'quiet') {
        $limit = $keys === 'denied' ? [1, 0.001] : SCALE_LIMIT;
        $bucket = new TokenBucket($dsn, $keys, ...$limit);
        $bucket->consume(min($limit[0], TAKEN_BEFORE));
        $calls = function (int $n) use ($bucket): void { for ($i = 0; $i < $n; $i++) { $bucket->consume(); } };
        // The batch of a lease begins at a token, and doubles up to at most 4,095.
        $calls(str_contains((string) $dsn, '&lease=0') ? 100 : 10_000);
        return $calls;
    }
    $buckets = quiet_buckets($dsn);
    mt_srand(random_int(0, PHP_INT_MAX));
    return function (int $n) use ($buckets): void {
        for ($i = 0; $i < $n; $i++) {
            $buckets[mt_rand(0, QUIET_BUCKETS - 1)]->consume();
        }
    };
}
