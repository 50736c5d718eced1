<?php

namespace TokenBucket;

/**
 * What all limiters can do, for type hints.
 */
interface Limiter
{
    /** Takes tokens if they are there; whether they were. */
    public function consume(int $token_count = 1): bool;

    /** As consume(), and tells what is left and when to return. */
    public function attempt(int $token_count = 1): Decision;

    /** What attempt() would say now. Changes nothing. */
    public function peek(int $token_count = 1): Decision;

    /** Gives tokens back, never above the capacity. */
    public function refund(int $token_count = 1): void;

    /** Forgets all that was taken. */
    public function reset(): void;
}
