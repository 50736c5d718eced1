<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Symfony\Component\RateLimiter\RateLimiterFactory as SymfonyFactory;
use TokenBucket\Symfony\LimiterFactory;
use TokenBucket\Symfony\RateLimiterFactory;

/** Makes services with limiters of different types as autowired arguments. */
final class Pages
{
    /** @return \ArrayObject<int, SymfonyFactory> */
    public static function ofSymfony(SymfonyFactory $searchLimiter): \ArrayObject
    {
        return new \ArrayObject([$searchLimiter]);
    }

    /** @return \ArrayObject<int, LimiterFactory> */
    public static function ofThisPackage(LimiterFactory $searchLimiter, RateLimiterFactory $mailLimiter): \ArrayObject
    {
        return new \ArrayObject([$searchLimiter, $mailLimiter]);
    }
}
