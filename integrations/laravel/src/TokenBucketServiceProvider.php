<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Illuminate\Cache\RateLimiter as LaravelRateLimiter;
use Illuminate\Contracts\Container\Container;
use Illuminate\Foundation\Application;
use Illuminate\Routing\Middleware\ThrottleRequests as LaravelThrottleRequests;
use Illuminate\Support\Facades\RateLimiter as RateLimiterFacade;
use Illuminate\Support\ServiceProvider;

use function TokenBucket\end_request;

/** Puts the limiter and the throttle middleware of this package into the places of Laravel's. */
final class TokenBucketServiceProvider extends ServiceProvider
{
    private const CONFIG = __DIR__ . '/../config/token_bucket.php';

    public function register(): void
    {
        $this->mergeConfigFrom(self::CONFIG, 'token_bucket');

        // Extended, not bound: Laravel's deferred cache provider would bind its own limiter over it later.
        $this->app->extend(
            LaravelRateLimiter::class,
            static fn (LaravelRateLimiter $limiter, Container $app) => RateLimiter::inPlaceOf($limiter, new Windows($app->make('config')))
        );
        $this->app->alias(LaravelRateLimiter::class, RateLimiter::class);
        $this->app->bind(LaravelThrottleRequests::class, ThrottleRequests::class);

        // The facade may have been used before this provider was registered.
        RateLimiterFacade::clearResolvedInstance(LaravelRateLimiter::class);
    }

    public function boot(): void
    {
        $this->commands([UnblockCommand::class]);
        // PHP sees no end of a request in a worker that serves many. Octane terminates the application after each, too.
        if ($this->app instanceof Application && function_exists('TokenBucket\limiter')) {
            $this->app->terminating(end_request(...));
        }
        $this->publishes([self::CONFIG => $this->app->configPath('token_bucket.php')], 'token-bucket');
    }
}
