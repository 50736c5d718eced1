<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\RateLimiterFactoryInterface;

if (interface_exists(RateLimiterFactoryInterface::class)) {
    /** Makes the limiter of one client. Symfony has an interface for this since 7.3, and this is the same. */
    interface LimiterFactory extends RateLimiterFactoryInterface
    {
    }
} else {
    /** Makes the limiter of one client. */
    interface LimiterFactory
    {
        public function create(?string $key = null): LimiterInterface;
    }
}
