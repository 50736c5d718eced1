<?php

declare(strict_types=1);

namespace TokenBucket\Psr15;

/** @internal */
final class Extension
{
    /** @throws \LogicException if it is missing: Composer checks it only for the PHP that it runs on itself */
    public static function check(): void
    {
        if (!function_exists('TokenBucket\limiter')) {
            throw new \LogicException('token-bucket/psr15 needs the PHP extension token_bucket, which this PHP has not loaded');
        }
    }
}
