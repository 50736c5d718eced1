<?php

namespace TokenBucket;

/**
 * Several limits, of which a call is charged to the first one that accepts it: the plan's quota, then credits.
 *
 *     $limit = new TokenBucket\FirstOf(
 *         new TokenBucket\CalendarWindow(null, "included:$customer", 10_000, 'month'),
 *         new TokenBucket\FixedWindow(null, "credits:$customer", 5_000, 86_400 * 365),
 *     );
 *     $decision = $limit->attempt($cost);
 *     $decision->getChargedTo();   // ['included'], then ['credits']
 *
 * The limits are asked in their order. The first that accepts all of the cost is charged, and no other one; if none does, the
 * call is denied. A limit in a dry run (enforce=0) is charged if it accepts; if no limit accepts, it lets the call go on. The
 * policy for a failed store (on_error) works for each limit by itself. statistics() counts a call for the limit that is
 * charged, and a denied one for each limit.
 *
 * One limit is asked after the other, each as if it stood alone: with its deny cache and its leases. A limit that denies is
 * not charged, so nothing is given back. On servers a call costs the round trips of each limit that is asked; a denial that
 * the deny cache knows costs none.
 *
 * It charges the limits itself: a consume() that a class extending TokenBucket overrides is not called.
 *
 * Cannot be extended, cloned or serialized. Every method but the constructor throws a StorageException if a storage
 * fails and no on-error policy answers.
 */
final class FirstOf implements Limiter
{
    /**
     * Makes one limiter of several. It keeps the limits as they are now.
     *
     * @param Limiter ...$limiters 2 to 16 objects of TokenBucket, LeakyBucket, FixedWindow, CalendarWindow and SlidingWindow, on
     *                             any storages of this extension, in the order in which they are charged
     *
     * @throws \ArgumentCountError for fewer than two limiters, or if one is passed by name
     * @throws \ValueError if there are more than 16 limiters, if two use the same bucket, or if one is a TokenBucket without a
     *     capacity or a rate, or is on a storage written in PHP
     * @throws \TypeError if a limiter is not a single one of this extension's classes
     */
    public function __construct(Limiter ...$limiters) {}

    /**
     * Takes tokens from the first limit that has enough.
     *
     * @param int $token_count 0 or more
     *
     * @return bool whether the call is accepted
     *
     * @throws \ValueError if the number is negative
     */
    public function consume(int $token_count = 1): bool {}

    /**
     * Takes tokens from the first limit that has enough, and describes the result.
     *
     * The decision is that of the limit that is charged; its settle() and refund() go there. The decision of a denied call is
     * that of the limit that would accept it soonest; getDeniedBy() and getProblem() name all limits.
     *
     * @param int $tokens 0 or more
     * @param int $leave  so many must be left afterwards of the limit that is charged
     *
     * @throws \ValueError if a number is negative
     */
    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Returns what attempt() would return now. Changes nothing.
     *
     * @param int $tokens 0 or more
     * @param int $leave  so many must be left afterwards of the limit that would be charged
     *
     * @throws \ValueError if a number is negative
     */
    public function peek(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Puts tokens back into the limit that this object has charged last, never above its capacity. Decision::refund() gives
     * back what its own call took.
     *
     * @param int $tokens 0 or more
     *
     * @return bool whether they were taken back; false if this object has charged none
     *
     * @throws \ValueError if the number is negative
     */
    public function refund(int $tokens = 1): bool {}

    /** Puts all tokens back into all limits, one after the other, and lifts their blocks. */
    public function reset(): void {}

    /**
     * Blocks the identifiers of all limits, one after the other.
     *
     * @param float $seconds how long: above 0, at most four years
     *
     * @throws \ValueError if the time is out of range
     */
    public function block(float $seconds): void {}
}
