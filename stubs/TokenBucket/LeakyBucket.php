<?php

namespace TokenBucket;

/**
 * A leaky bucket as a meter: each call raises its level by the cost, the level sinks evenly, and a call is accepted if the
 * bucket does not overflow.
 *
 *     $bucket = new TokenBucket\LeakyBucket(null, "search:$network", 6, 30);   // six at once, one more every five seconds
 *     if ($bucket->consume()) { ... }
 *
 * It decides as a TokenBucket of $limit tokens that refills in $interval seconds, and uses the same bucket as a TokenBucket
 * on the same identifier. Cannot be cloned or serialized.
 *
 * Every method but the constructor throws a StorageException if the storage fails and no on-error policy answers. On a
 * storage written in PHP only consume() and attempt() work; the other methods throw a \LogicException.
 */
final class LeakyBucket implements Limiter
{
    /**
     * Makes an object for one bucket. The storage is opened by the first call on it, not here.
     *
     * @param \TokenBucketStorage|string|null $storage a storage object, a DSN, or null for token_bucket.storage
     * @param string $identifier names the bucket, for example by client and action: 1 to 4,096 bytes of any kind
     * @param int    $limit      how much fits: 1 to 2,147,483,647
     * @param float  $interval   how long a full bucket takes to leak out, in seconds: at least 1 nanosecond for each unit of
     *                           $limit, at most four years
     * @param string|null $name  names the limit in statistics() and in decisions. Null: the part of the identifier before the
     *                           first colon
     *
     * @throws \ValueError if a number or the length of the identifier is out of range
     * @throws ConfigurationException if a DSN has an unknown scheme or parameter, or token_bucket.storage is invalid
     */
    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $interval,
        ?string $name = null
    ) {}

    /**
     * Raises the level if that fits, else changes nothing.
     *
     * @param int $token_count 0 or more. 0 adds nothing and is accepted; more than the limit is never accepted
     *
     * @return bool whether the call is accepted
     *
     * @throws \ValueError if the count is negative
     */
    public function consume(int $token_count = 1): bool {}

    /**
     * Raises the level if that fits, else changes nothing, and describes the result.
     *
     * @param int $tokens 0 or more
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws \ValueError if the count is negative
     */
    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Adds as many of $most as there is room for, if that is at least $least; else adds none.
     *
     * The decision's getTokens() is the number that the caller may use.
     *
     * @param int $most  0 or more. 0 takes nothing, whatever $least is by default
     * @param int $least 1 to $most. More than the limit is never accepted
     * @param int $leave so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws \ValueError if a number is out of range
     */
    public function takeUpTo(int $most, int $least = 1, int $leave = 0): Decision {}

    /**
     * Returns what attempt() would return now. Changes nothing.
     *
     * @param int $tokens 0 or more
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws \ValueError if the count is negative
     */
    public function peek(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Raises the level, in advance if that does not fit yet. The decision's wait() sleeps until it may be used, and is false at once
     * if the call is denied, whose getWait() is 0.0.
     *
     * @param int        $tokens  0 or more; more than the limit is never accepted
     * @param float|null $maxWait the longest wait in seconds, 0 or more: a call that would have to wait longer is denied and
     *                            changes nothing. Null: no bound
     *
     * @throws \ValueError if the count or the wait is negative
     */
    #[\NoDiscard]
    public function reserve(int $tokens = 1, ?float $maxWait = null): Decision {}

    /**
     * Lowers the level, never below empty.
     *
     * @param int $tokens 0 or more
     *
     * @return bool whether that was done. False if the identifier is blocked, or if the store failed and on_error is "open" or "closed"
     *
     * @throws \ValueError if the count is negative
     */
    public function refund(int $tokens = 1): bool {}

    /** Empties the bucket and lifts a block. */
    public function reset(): void {}

    /**
     * Denies every call on the identifier for some time: also one of cost 0.
     *
     * Denied calls meanwhile do not lengthen it, and a refund gives nothing back. If there are two blocks, the one that
     * ends later counts. Afterwards the bucket is empty. reset() lifts the block. A block is seen by all that share the storage; where
     * token_bucket.deny_cache is on, another host sees a reset() within a second.
     *
     * If the storage fails, on_error=fallback blocks in this host's own buckets, `open` and `closed` do nothing.
     *
     * @param float $seconds how long: above 0, at most four years
     *
     * @throws \ValueError if the time is out of range
     */
    public function block(float $seconds): void {}
}
