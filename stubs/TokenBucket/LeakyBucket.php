<?php

namespace TokenBucket;

/**
 * A leaky bucket as a meter: each call raises its level by the cost, it leaks evenly, and a call is accepted while it
 * does not overflow.
 *
 *     $bucket = new TokenBucket\LeakyBucket(null, "$ip search", 6, 30);   // six at once, one more every five seconds
 *     if ($bucket->consume()) { ... }
 *
 * It decides as a TokenBucket of $limit tokens does that gets $limit of them back in $period seconds, and shares its
 * bucket with one on the same identifier; there is nothing to clean up. Cannot be cloned or serialized.
 */
final class LeakyBucket implements Limiter
{
    /**
     * A bucket. Nothing is opened before the first call on it.
     *
     * @param \TokenBucketStorage|string|null $storage a storage, a DSN, or null for token_bucket.storage
     * @param string $identifier whose bucket it is, and for which action: 1 to 4,096 bytes of any kind
     * @param int    $limit      how much fits: 1 to 2,147,483,647
     * @param float  $period     how long a full bucket takes to leak out, in seconds: above 0, at most four years
     * @param string|null $name  the limit's name in statistics(); what stands before the first colon of the identifier if null
     *
     * @throws \ValueError for numbers or an identifier out of range
     * @throws ConfigurationException for a DSN with an unknown scheme or parameter
     */
    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $period,
        ?string $name = null
    ) {}

    /**
     * Adds to the bucket if that fits, else nothing.
     *
     * @param int $token_count 0 or more; 0 adds nothing and is accepted, more than the limit never fits
     */
    public function consume(int $token_count = 1): bool {}

    /** As consume(), and tells how much still fits and when to return. */
    public function attempt(int $token_count = 1): Decision {}

    /** What attempt() would say; changes nothing. */
    public function peek(int $token_count = 1): Decision {}

    /** Takes back what was added, never below empty. */
    public function refund(int $token_count = 1): void {}

    /** Empties the bucket. */
    public function reset(): void {}
}
