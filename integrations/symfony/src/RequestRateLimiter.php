<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\Policy\NoLimiter;
use Symfony\Component\RateLimiter\RateLimit;
use TokenBucket\Decision;

/**
 * Limits requests by the network of their client: an IPv4 address, or an IPv6 /64. All of its limits are charged, or none.
 *
 * For another key extend it and override getLimiters().
 */
class RequestRateLimiter implements PeekableRequestLimiter
{
    /** @var list<LimiterFactory> */
    private array $factories;

    public function __construct(LimiterFactory ...$factories)
    {
        $this->factories = array_values($factories);
    }

    public function consume(Request $request): RateLimit
    {
        return $this->limiterOf($request)->consume();
    }

    /**
     * Charges the request as consume() does. The decision can be refunded: that is how only failures count.
     *
     * @return Decision|null null if the request has no limit
     */
    final public function attempt(Request $request): ?Decision
    {
        return $this->limiterOf($request)->getNative()?->attempt();
    }

    public function peek(Request $request): RateLimit
    {
        return $this->limiterOf($request)->consume(0);
    }

    public function reset(Request $request): void
    {
        $this->limiterOf($request)->reset();
    }

    /**
     * @return LimiterInterface[] the limits of this request, those that clients share last; [] for no limit
     */
    protected function getLimiters(Request $request): array
    {
        $network = self::networkOf($request);

        return array_map(static fn (LimiterFactory $factory): LimiterInterface => $factory->create($network), $this->factories);
    }

    /** The address as Symfony's trusted proxies tell it, "unknown" if there is none. */
    protected static function networkOf(Request $request): string
    {
        return \TokenBucket\client_network($request->getClientIp() ?? '');
    }

    private function limiterOf(Request $request): CompoundLimiter
    {
        $limiters = $this->getLimiters($request);

        return new CompoundLimiter($limiters === [] ? [new NoLimiter()] : $limiters);
    }
}
