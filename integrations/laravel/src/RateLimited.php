<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Illuminate\Cache\RateLimiting\Limit;
use Illuminate\Cache\RateLimiting\Unlimited;
use Illuminate\Container\Container;
use Illuminate\Queue\Middleware\RateLimited as LaravelRateLimited;
use Illuminate\Support\Collection;
use stdClass;

/** Laravel's job middleware with one call a job: workers at the same time start no job too many. */
class RateLimited extends LaravelRateLimited
{
    /** Laravel waits this much longer before it tries a job again. */
    private const MARGIN_SECONDS = 3;

    /**
     * @param mixed $job
     * @param callable $next
     * @return mixed
     */
    public function handle($job, $next)
    {
        $limiter = $this->limiter->limiter($this->limiterName);
        $limits = $limiter === null ? new Unlimited() : $limiter($job);
        if ($limits instanceof Unlimited) {
            return $next($job);
        }

        return $this->handleJob($job, $next, RateLimiter::withReadableKeys($this->limiterName, Collection::wrap($limits)->all()));
    }

    /**
     * @param mixed $job
     * @param callable $next
     * @param array<Limit|stdClass> $limits
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
