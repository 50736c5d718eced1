<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\RateLimiter\RateLimit;

/**
 * Symfony's RateLimit, which knows the time to wait to the microsecond.
 *
 * Its date is in whole seconds, rounded up: pages send `getRetryAfter()->getTimestamp() - time()` as Retry-After, and a client
 * that obeys must not come too early.
 *
 * @internal
 */
final class ExactRateLimit extends RateLimit
{
    /** A date for "never", in seconds from now: ten years. */
    private const FAR_AWAY = 315_576_000.0;

    private float $actAt;

    /** @param float $wait seconds until the call is accepted, 0.0 if it is */
    public function __construct(int $availableTokens, float $wait, bool $accepted, int $limit)
    {
        $now = microtime(true);
        $this->actAt = $now + min($wait, self::FAR_AWAY);
        $seconds = $wait > 0.0 ? ceil($this->actAt) : floor($now);
        parent::__construct($availableTokens, new \DateTimeImmutable('@' . (int) $seconds), $accepted, $limit);
    }

    /** When the call is accepted, as a Unix time. */
    public function getTimeToAct(): float
    {
        return $this->actAt;
    }

    public function wait(): void
    {
        usleep(max(0, (int) ceil(($this->actAt - microtime(true)) * 1e6)));
    }
}
