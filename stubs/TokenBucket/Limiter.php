<?php

namespace TokenBucket;

/**
 * What TokenBucket, LeakyBucket and FixedWindow have in common, for type declarations.
 *
 * $token_count is 0 or more in every method; a negative count is a \ValueError. Every method throws a StorageException if
 * the storage fails and no on-error policy answers.
 */
interface Limiter
{
    /** Takes tokens if there are enough, else takes none. Returns whether the call is accepted. */
    public function consume(int $token_count = 1): bool;

    /** Takes tokens if there are enough, else takes none, and describes the result. */
    public function attempt(int $token_count = 1): Decision;

    /** Returns what attempt() would return now. Changes nothing. */
    public function peek(int $token_count = 1): Decision;

    /** Puts tokens back, never above the limit. */
    public function refund(int $token_count = 1): void;

    /** Puts all tokens back. */
    public function reset(): void;
}
