<?php

declare(strict_types=1);

namespace TokenBucket;

interface Limiter
{
    public function consume(int $token_count = 1): bool;
    #[\NoDiscard]
    public function attempt(int $tokens = 1): Decision;
    public function peek(int $tokens = 1): Decision;
    public function refund(int $tokens = 1): bool;
    public function reset(): void;
    public function block(float $seconds): void;
}
