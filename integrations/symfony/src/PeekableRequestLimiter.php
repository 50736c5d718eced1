<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\HttpFoundation\RateLimiter\PeekableRequestRateLimiterInterface;
use Symfony\Component\HttpFoundation\RateLimiter\RequestRateLimiterInterface;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\RateLimiter\RateLimit;

if (interface_exists(PeekableRequestRateLimiterInterface::class)) {
    /** A limiter of requests that can be asked without being charged. Symfony has an interface for this since 6.2. */
    interface PeekableRequestLimiter extends PeekableRequestRateLimiterInterface
    {
    }
} else {
    /** A limiter of requests that can be asked without being charged. */
    interface PeekableRequestLimiter extends RequestRateLimiterInterface
    {
        public function peek(Request $request): RateLimit;
    }
}
