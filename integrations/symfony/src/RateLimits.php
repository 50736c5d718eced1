<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\RateLimiter\RateLimit;
use TokenBucket\Decision;

/**
 * Turns the extension's decisions into Symfony's RateLimit.
 *
 * @internal
 */
final class RateLimits
{
    public static function consume(\TokenBucket\Limiter $native, int $tokens): RateLimit
    {
        self::checkTokens($tokens);
        if ($tokens === 0) {
            return self::peek($native);
        }
        $decision = $native->attempt($tokens);
        self::checkNotAboveLimit($decision, $tokens);

        return self::fromDecision($native, $decision);
    }

    /** What is left. Accepted even if nothing is, unless the client is blocked: this is Symfony's consume(0). */
    public static function peek(\TokenBucket\Limiter $native): RateLimit
    {
        $decision = $native->peek();
        $is_accepted = $decision->isAccepted() || $native->peek(0)->isAccepted();

        return new ExactRateLimit($decision->getRemainingTokens(), $decision->getRetryAfter(), $is_accepted, $decision->getLimit());
    }

    public static function fromDecision(\TokenBucket\Limiter $native, Decision $decision): RateLimit
    {
        $retry_after = $decision->getRetryAfter();
        // Of the call that takes the last token, Symfony tells when the next one comes.
        if ($decision->isAccepted() && $decision->getRemainingTokens() === 0 && !$decision->isDegraded()) {
            $retry_after = $native->peek()->getRetryAfter();
        }

        return new ExactRateLimit($decision->getRemainingTokens(), $retry_after, $decision->isAccepted(), $decision->getLimit());
    }

    public static function checkTokens(int $tokens): void
    {
        if ($tokens < 0) {
            throw new \InvalidArgumentException("The number of tokens must be 0 or more, $tokens given.");
        }
    }

    /** More tokens than the limit would never be accepted: a mistake of the caller, for which Symfony throws, too. */
    public static function checkNotAboveLimit(Decision $decision, int $tokens): void
    {
        if (is_infinite($decision->getRetryAfter())) {
            throw new \InvalidArgumentException("Cannot take $tokens tokens at once: that is more than the limit.");
        }
    }
}
