<?php

namespace TokenBucket;

/**
 * A sliding window: never more than $limit hits in any stretch of an interval.
 *
 *     $window = new TokenBucket\SlidingWindow(null, "code:$network", 5, 900);    // five in any 15 minutes
 *     if ($window->consume()) { ... }
 *
 * Each hit counts for exactly one interval, from the call that takes it. So a denied client may try again when its oldest hit
 * is an interval old, and no stretch of an interval, wherever it begins, has more than $limit hits. Other libraries call a
 * weighted count of two fixed windows by this name, which admits up to twice the limit.
 *
 * Every hit is remembered: up to $limit slots of 16 bytes in shared memory, or 9 bytes each and 1 more on a server. A sliding
 * window, a fixed window and a bucket on the same identifier do not affect each other. Cannot be cloned or serialized.
 *
 * Every method but the constructor throws a StorageException if the storage fails and no on-error policy answers.
 */
final class SlidingWindow implements Limiter
{
    /**
     * Makes an object for one window. The storage is opened by the first call on it, not here.
     *
     * @param \TokenBucketStorage|string|null $storage a storage object of this extension, a DSN, or null for
     *                           token_bucket.storage
     * @param string $identifier names the window: 1 to 4,096 bytes of any kind
     * @param int    $limit      hits in an interval: 1 to 1,024
     * @param float  $interval   how long a hit counts, in seconds: at least 1 nanosecond, at most four years
     * @param string|null $name  names the limit in statistics() and in decisions. Null: the part of the identifier before the
     *                           first colon
     *
     * @throws \ValueError if a number or the length of the identifier is out of range, or for a storage written in PHP
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
     * Counts hits if all of them fit into the window, else counts none.
     *
     * @param int $token_count hits, 0 or more. 0 counts nothing and is accepted; more than the limit is never accepted
     *
     * @return bool whether the call is accepted
     *
     * @throws \ValueError if the count is negative
     */
    public function consume(int $token_count = 1): bool {}

    /**
     * Counts hits if they fit into the window, else counts none, and describes the result.
     *
     * @param int $tokens hits, 0 or more
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws \ValueError if the count is negative
     */
    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Counts as many of $most as there is room for, if that is at least $least; else counts none.
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
     * @param int $tokens hits, 0 or more
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws \ValueError if the count is negative
     */
    public function peek(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Takes the latest hits out of the window, as many as there are. Decision::refund() takes out those of its own call.
     *
     * @param int $tokens hits, 0 or more
     *
     * @return bool whether that was done. False if the identifier is blocked, or if the store failed and on_error is "open" or "closed"
     *
     * @throws \ValueError if the count is negative
     */
    public function refund(int $tokens = 1): bool {}

    /** Forgets all hits, and lifts a block. */
    public function reset(): void {}

    /**
     * Denies every call on the identifier for some time: also one of cost 0.
     *
     * Denied calls meanwhile do not lengthen it, and a refund gives nothing back. If there are two blocks, the one that
     * ends later counts. Afterwards the window has no hits. reset() lifts the block. A block is seen by all that share the
     * storage; where token_bucket.deny_cache is on, another host sees a reset() within a second.
     *
     * If the storage fails, on_error=fallback blocks in this host's own windows, `open` and `closed` do nothing.
     *
     * @param float $seconds how long: above 0, at most four years
     *
     * @throws \ValueError if the time is out of range
     */
    public function block(float $seconds): void {}
}
