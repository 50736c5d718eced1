<?php
declare(strict_types=1);

/*
 * What integrations/symfony uses of newer Symfony than Debian 12's, if it is there. For the analyser alone (mago.toml): never run.
 */

namespace Symfony\Component\RateLimiter {
    interface RateLimiterFactoryInterface
    {
        public function create(?string $key = null): LimiterInterface;
    }

    final class CompoundRateLimiterFactory implements RateLimiterFactoryInterface
    {
        /** @param iterable<RateLimiterFactoryInterface> $rateLimiterFactories */
        public function __construct(private iterable $rateLimiterFactories)
        {
        }

        public function create(?string $key = null): LimiterInterface
        {
        }
    }
}

namespace Symfony\Component\HttpFoundation\RateLimiter {
    use Symfony\Component\HttpFoundation\Request;
    use Symfony\Component\RateLimiter\RateLimit;

    interface PeekableRequestRateLimiterInterface extends RequestRateLimiterInterface
    {
        public function peek(Request $request): RateLimit;
    }
}
