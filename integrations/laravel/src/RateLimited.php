<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Illuminate\Container\Container;
use Illuminate\Queue\Middleware\RateLimited as LaravelRateLimited;
use stdClass;

/** Laravel's job middleware with one atomic call a job: workers at the same time start no job too many. */
class RateLimited extends LaravelRateLimited
{
    /** Laravel waits this much longer before it tries a job again. */
    private const MARGIN_SECONDS = 3;

    /**
     * @param mixed $job
     * @param callable $next
     * @param array<stdClass> $limits
     * @return mixed
     */
    protected function handleJob($job, $next, array $limits)
    {
        $charge = Container::getInstance()->make(RateLimiter::class)->charge($this->limiterName, $limits);
        if ($charge->deniedBy === null) {
            return $next($job);
        }
        if (!$this->shouldRelease) {
            return false;
        }

        // Laravel 8 has no releaseAfter().
        return $job->release(($this->releaseAfter ?? null) ?: $charge->retryAfter + self::MARGIN_SECONDS);
    }
}
