<?php

namespace TokenBucket;

/**
 * What TokenBucket, LeakyBucket, FixedWindow, CalendarWindow, SlidingWindow, Compound and FirstOf have in common, for type declarations.
 *
 * $tokens is 0 or more in every method; a negative count is a \ValueError. Every method throws a StorageException if
 * the storage fails and no on-error policy answers.
 */
interface Limiter
{
    /** Takes tokens if there are enough, else takes none. Returns whether the call is accepted. */
    public function consume(int $token_count = 1): bool;

    /** Takes tokens if there are enough, else takes none, and describes the result. */
    #[\NoDiscard]
    public function attempt(int $tokens = 1): Decision;

    /** Returns what attempt() would return now. Changes nothing. */
    public function peek(int $tokens = 1): Decision;

    /** Puts tokens back, never above the limit. Returns whether that was done: not while the identifier is blocked. */
    public function refund(int $tokens = 1): bool;

    /** Puts all tokens back and lifts a block. */
    public function reset(): void;

    /**
     * Denies every call on the identifier for some time, also one of cost 0. Denied calls meanwhile do not lengthen it,
     * reset() lifts it. Afterwards the limit starts afresh.
     *
     * @param float $seconds above 0, at most four years
     *
     * @throws \ValueError if the time is out of range
     */
    public function block(float $seconds): void;
}
