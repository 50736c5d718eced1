<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\RateLimiter\Exception\ReserveNotSupportedException;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\Policy\NoLimiter;
use Symfony\Component\RateLimiter\RateLimit;
use Symfony\Component\RateLimiter\Reservation;
use TokenBucket\Compound;

/** Several limits as one, charged all or nothing. Put limits that clients share last. */
final class CompoundLimiter implements LimiterInterface
{
    private ?Compound $native;

    /**
     * @param LimiterInterface[] $limiters 1 to 16 limiters of this package; those without a limit are left out
     *
     * @throws \LogicException without a limiter
     * @throws \InvalidArgumentException if a limiter is not of this package, if two use the same bucket, or if there are more than 16
     */
    public function __construct(array $limiters)
    {
        if ($limiters === []) {
            throw new \LogicException(self::class . ' needs at least one limiter.');
        }
        $natives = [];
        foreach ($limiters as $limiter) {
            $native = self::nativeOf($limiter);
            if ($native !== null) {
                $natives[] = $native;
            }
        }
        try {
            $this->native = $natives === [] ? null : new Compound(...$natives);
        } catch (\ValueError $error) {
            throw new \InvalidArgumentException("The limits cannot be charged together: {$error->getMessage()}.", 0, $error);
        }
    }

    /**
     * @throws \InvalidArgumentException if $tokens is negative, or more than one of the limits
     */
    public function consume(int $tokens = 1): RateLimit
    {
        return $this->native === null ? (new NoLimiter())->consume($tokens) : RateLimits::consume($this->native, $tokens);
    }

    public function reserve(int $tokens = 1, ?float $maxTime = null): Reservation
    {
        throw new ReserveNotSupportedException(self::class);
    }

    public function reset(): void
    {
        $this->native?->reset();
    }

    /** The extension's limiter, for what Symfony's interface lacks; null if all limiters have no limit. */
    public function getNative(): ?Compound
    {
        return $this->native;
    }

    private static function nativeOf(mixed $limiter): ?\TokenBucket\Limiter
    {
        if ($limiter instanceof Limiter || $limiter instanceof self) {
            return $limiter->getNative();
        }
        if ($limiter instanceof NoLimiter) {
            return null;
        }
        throw new \InvalidArgumentException(sprintf(
            'Only limiters of %s can be charged together, %s given. Make it with %s.',
            __NAMESPACE__,
            get_debug_type($limiter),
            RateLimiterFactory::class,
        ));
    }
}
