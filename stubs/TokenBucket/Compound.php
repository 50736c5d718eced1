<?php

namespace TokenBucket;

/**
 * Several limits as one: a call is charged to all of them, or to none.
 *
 *     $limit = new TokenBucket\Compound(
 *         TokenBucket::per(null, "login:$network $user", 5, 300),
 *         TokenBucket::per(null, "login:$network", 30, 300),
 *     );
 *     if ($limit->consume()) { ... }
 *
 * A call is accepted if every enforced limit accepts it. If one denies it, no limit is charged. A limit in a dry run
 * (enforce=0) is charged if it accepts, and never denies. The policy for a failed store (on_error), the dry run and
 * statistics() work for each limit alone: a call counts for each limit that is charged or that denies.
 *
 * All limits on one Redis or Valkey server, or in one slot of a cluster (put the same `{tag}` into the identifiers or the
 * prefix), are decided in one atomic step and one round trip. Elsewhere all limits are looked at first, then charged in
 * order; if a later one denies after all, because another process was faster, those before it get back what they were
 * charged. So no limit is exceeded, and no limit stays charged for a denied call. For a moment other processes may find
 * less than they would have, and a process that dies in between leaves its own charges behind.
 *
 * It charges the limits itself: a consume() that a class extending TokenBucket overrides is not called.
 *
 * Cannot be extended, cloned or serialized. Every method but the constructor throws a StorageException if a storage
 * fails and no on-error policy answers.
 */
final class Compound implements Limiter
{
    /**
     * Makes one limiter of several. It keeps the limits as they are now.
     *
     * @param Limiter ...$limiters 1 to 16 objects of TokenBucket, LeakyBucket, FixedWindow, CalendarWindow, SlidingWindow and Compound, on any storages of this
     *                             extension. The limiters of a Compound take its place, in their order
     *
     * @throws \ArgumentCountError without a limiter, or if one is passed by name
     * @throws \ValueError if there are more than 16 limiters, if two use the same bucket, or if one is a TokenBucket without a
     *     capacity or a rate, or is on a storage written in PHP
     * @throws \TypeError if a limiter is not an object of this extension's classes, or is a FirstOf
     */
    public function __construct(Limiter ...$limiters) {}

    /**
     * Takes tokens from all limits if all of them have enough, else from none.
     *
     * @param int|array $token_count 0 or more for each limit: one number for all, or an array with one number for each: in
     *                               the order of the limiters, or by the names of the limits: `['day' => 20, 'second' => 1]`
     *
     * @return bool whether the call is accepted
     *
     * @throws \ValueError if a number is negative, or if the array does not have exactly one for each limiter
     * @throws \TypeError if the array has a value that is not an int
     */
    public function consume(int|array $token_count = 1): bool {}

    /**
     * Takes tokens from all limits if all of them have enough, else from none, and describes the result.
     *
     * The decision has the fewest remaining tokens of all limits, and getLimit() of that limit; as getRetryAfter() the longest
     * wait of those that deny, as getResetAfter() the longest of all; and in getHeaders() an item for each limit that was asked. If this host
     * remembers that some limits deny (deny_cache), only those are asked.
     *
     * @param int|array $tokens 0 or more for each limit: one number for all, or an array with one for each, in order or by name
     * @param int|array $leave  so many must be left of each limit afterwards, in the same form
     *
     * @throws \ValueError if a number is negative, or if the array does not have exactly one for each limiter
     * @throws \TypeError if the array has a value that is not an int
     */
    #[\NoDiscard]
    public function attempt(int|array $tokens = 1, int|array $leave = 0): Decision {}

    /**
     * Returns what attempt() would return now. Changes nothing.
     *
     * @param int|array $tokens 0 or more for each limit: one number for all, or an array with one for each, in order or by name
     * @param int|array $leave  so many must be left of each limit afterwards, in the same form
     *
     * @throws \ValueError if a number is negative, or if the array does not have exactly one for each limiter
     * @throws \TypeError if the array has a value that is not an int
     */
    public function peek(int|array $tokens = 1, int|array $leave = 0): Decision {}

    /**
     * Puts tokens back into all limits, one after the other, never above a limit.
     *
     * @param int|array $tokens 0 or more for each limit: one number for all, or an array with one for each, in order or by name
     *
     * @return bool whether any limit took them back
     *
     * @throws \ValueError if a number is negative, or if the array does not have exactly one for each limiter
     * @throws \TypeError if the array has a value that is not an int
     */
    public function refund(int|array $tokens = 1): bool {}

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
