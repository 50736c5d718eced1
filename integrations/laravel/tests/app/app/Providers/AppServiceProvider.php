<?php

declare(strict_types=1);

namespace App\Providers;

use Illuminate\Cache\RateLimiting\Limit;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\RateLimiter;
use Illuminate\Support\Facades\Route;
use Illuminate\Support\ServiceProvider;
use Symfony\Component\HttpFoundation\Response;

use function TokenBucket\client_network;
use function TokenBucket\in_network;

class AppServiceProvider extends ServiceProvider
{
    public function boot(): void
    {
        $client = static fn (Request $request): string => (string) $request->header('X-Client');

        RateLimiter::for('api', static fn (Request $request) => Limit::perMinute(5)->by($client($request)));
        RateLimiter::for('custom', static fn (Request $request) => Limit::perMinute(1)->by($client($request))->response(
            static fn (Request $request, array $headers) => response('Slow down, please.', 429, $headers)
        ));
        RateLimiter::for('set', static fn (Request $request) => [
            Limit::perMinute(3)->by('client:' . $client($request)),
            Limit::perHour(5)->by('team:' . $request->header('X-Team'))->response(
                static fn (Request $request, array $headers) => response('Your team is too busy.', 429, $headers)
            ),
        ]);
        RateLimiter::for('same-key', static fn (Request $request) => [
            Limit::perMinute(2)->by($client($request)),
            Limit::perHour(3)->by($client($request)),
        ]);
        RateLimiter::for('none', static fn () => Limit::none());
        RateLimiter::for('office', static fn (Request $request) => in_network($request->ip(), ['10.0.0.0/8'])
            ? Limit::none()
            : Limit::perMinute(1)->by(client_network($request->ip())));
        RateLimiter::for('none-and-one', static fn (Request $request) => [Limit::none(), Limit::perMinute(1)->by($client($request))]);
        RateLimiter::for('closed', static fn () => Limit::perMinute(0));
        RateLimiter::for('ready-response', static fn () => response('Not today.', 503));
        // after() is of Laravel 12 and later.
        RateLimiter::for('failures', static fn (Request $request) => Limit::perMinute(5)->by($client($request))->after(
            static fn (Response $response) => $response->getStatusCode() === 401
        ));

        RateLimiter::for('jobs', static fn (object $job) => Limit::perMinute(5)->by($job->client));
        RateLimiter::for('job-set', static fn (object $job) => [
            Limit::perMinute(100)->by('client:' . $job->client),
            Limit::perMinute(5)->by('team:' . $job->client),
        ]);

        Route::group([], $this->app->basePath('routes/web.php'));
    }
}
