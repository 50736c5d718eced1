<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\RateLimiter\Exception\MaxWaitDurationExceededException;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\RateLimit;
use Symfony\Component\RateLimiter\Reservation;

/** One client's limiter, decided by the extension. A RateLimiterFactory makes it. */
final class Limiter implements LimiterInterface
{
    public function __construct(private \TokenBucket\Limiter $native, private LimiterConfiguration $configuration)
    {
    }

    /**
     * @throws \InvalidArgumentException if $tokens is negative, or more than the limit
     */
    public function consume(int $tokens = 1): RateLimit
    {
        return RateLimits::consume($this->native, $tokens);
    }

    /**
     * Takes tokens in advance; the reservation tells when to act.
     *
     * @throws MaxWaitDurationExceededException if the wait would be longer than $maxTime seconds, or the client is blocked
     * @throws WindowCannotReserveException if the policy is a window
     * @throws \InvalidArgumentException if $tokens is negative, or more than the limit
     */
    public function reserve(int $tokens = 1, ?float $maxTime = null): Reservation
    {
        if (!$this->native instanceof \TokenBucket) {
            throw new WindowCannotReserveException($this->configuration->id, $this->configuration->policy);
        }
        RateLimits::checkTokens($tokens);
        if ($maxTime !== null && is_nan($maxTime)) {
            throw new \InvalidArgumentException('The longest time to wait must be a number of seconds or null, NAN given.');
        }
        $longest = $maxTime === null || $maxTime === INF ? null : max(0.0, $maxTime);
        $decision = $this->native->reserve($tokens, $longest);
        if ($decision->isAccepted()) {
            $wait = $decision->getWait();
            $limit = new ExactRateLimit($decision->getRemainingTokens(), $wait, $wait === 0.0, $decision->getLimit());

            return new Reservation($limit->getTimeToAct(), $limit);
        }
        RateLimits::checkNotAboveLimit($decision, $tokens);
        // The decision says when the same call would be accepted, which then may wait for $longest.
        $wait = $decision->getRetryAfter() + ($longest ?? 0.0);
        $limit = new ExactRateLimit($decision->getRemainingTokens(), $wait, false, $decision->getLimit());
        $reason = $longest === null
            ? sprintf('The rate limiter accepts no reservation for %.6G seconds.', $wait)
            : sprintf('The rate limiter wait time (%.6G seconds) is longer than the provided maximum time (%.6G seconds).', $wait, $longest);
        throw new MaxWaitDurationExceededException($reason, $limit);
    }

    public function reset(): void
    {
        $this->native->reset();
    }

    /** The extension's limiter, for what Symfony's interface lacks: attempt(), refund(), block(). */
    public function getNative(): \TokenBucket\Limiter
    {
        return $this->native;
    }
}
