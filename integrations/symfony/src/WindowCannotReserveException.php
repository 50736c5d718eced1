<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\RateLimiter\Exception\ReserveNotSupportedException;

/** A reservation on a window: hits of the future cannot be taken from an exact one. The message says what can be done. */
final class WindowCannotReserveException extends ReserveNotSupportedException
{
    /** @param string $limiter its name in framework.rate_limiter */
    public function __construct(string $limiter, string $policy)
    {
        parent::__construct($policy);
        $this->message = self::reasonFor($limiter, $policy);
    }

    /** @internal */
    public static function reasonFor(string $limiter, string $policy): string
    {
        return "The limiter \"$limiter\" has the policy \"$policy\", and exact windows cannot reserve. Give it the policy \"token_bucket\", or let "
            . "Symfony decide it: \"token_bucket: { left_to_symfony: [$limiter] }\".";
    }
}
