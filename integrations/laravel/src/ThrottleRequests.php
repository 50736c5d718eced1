<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Closure;
use Illuminate\Cache\RateLimiting\Limit;
use Illuminate\Cache\RateLimiting\Unlimited;
use Illuminate\Http\Request;
use Illuminate\Routing\Middleware\ThrottleRequests as LaravelThrottleRequests;
use Illuminate\Support\Collection;
use stdClass;
use Symfony\Component\HttpFoundation\Response;

use function TokenBucket\client_network;

/**
 * Laravel's throttle middleware with one call a request: it takes a hit from each limit, or from none, before the request is
 * handled, instead of asking first and counting then.
 */
class ThrottleRequests extends LaravelThrottleRequests
{
    /** What statistics() counts limits under that are written into a route, as in throttle:60,1. */
    private const UNNAMED = 'throttle';

    /** @var RateLimiter */
    protected $limiter;

    /** The named limiter of this request, if the route has one. */
    private ?string $name = null;

    /** @var array<string, int> whole seconds by the key of the limit that denied */
    private array $retryAfter = [];

    public function __construct(RateLimiter $limiter)
    {
        parent::__construct($limiter);
    }

    /**
     * @param Request $request
     * @param string $limiterName
     * @return Response
     */
    protected function handleRequestUsingNamedLimiter($request, Closure $next, $limiterName, Closure $limiter)
    {
        $limits = $limiter($request);
        if ($limits instanceof Response) {
            return $limits;
        }
        if ($limits instanceof Unlimited) {
            return $next($request);
        }
        $this->name = $limiterName;
        try {
            return $this->handleRequest($request, $next, RateLimiter::withReadableKeys($limiterName, Collection::wrap($limits)->all()));
        } finally {
            $this->name = null;
        }
    }

    /**
     * @param Request $request
     * @param array<Limit|stdClass> $limits
     * @return Response
     */
    protected function handleRequest($request, Closure $next, array $limits)
    {
        $charge = $this->name === null
            ? $this->limiter->charge(self::UNNAMED, self::apartByTime($limits))
            : $this->limiter->charge($this->name, $limits);
        $denier = $charge->deniedBy;
        if ($denier !== null) {
            $this->retryAfter = [$denier->key => $charge->retryAfter];

            throw $this->buildException($request, $denier->key, $denier->maxAttempts, $denier->responseCallback);
        }
        $response = $next($request);
        foreach ($charge->groups as $group) {
            $group->settle($response);
            $response = $this->addHeaders($response, $group->decision->getLimit(), $group->decision->getRemainingTokens());
        }

        return $response;
    }

    /**
     * The client of an unnamed limit, which Laravel hashes: a user, or a network, for a client of IPv6 has as many addresses as it likes.
     *
     * @param Request $request
     * @return string
     */
    protected function resolveRequestSignature($request)
    {
        $user = $request->user();
        if ($user !== null) {
            return 'user:' . $user->getAuthIdentifier();
        }
        $route = $request->route();
        if ($route === null) {
            // It throws.
            return parent::resolveRequestSignature($request);
        }
        $domain = $route->getDomain();
        $network = client_network((string) $request->ip());

        return $domain === null ? $network : "$domain|$network";
    }

    /**
     * Laravel has one key a client for all unnamed limits. Those of different times must not share a window, of which the
     * shorter one would move the end: throttle:60,1 would free a client from throttle:5,10.
     *
     * @param array<Limit|stdClass> $limits
     * @return array<Limit|stdClass>
     */
    private static function apartByTime(array $limits): array
    {
        foreach ($limits as $limit) {
            $limit->key = RateLimiter::keyOf(
                self::UNNAMED,
                $limit->key . (isset($limit->decaySeconds) ? ":{$limit->decaySeconds}s" : ":{$limit->decayMinutes}min")
            );
        }

        return $limits;
    }

    /**
     * @param string $key
     * @return int
     */
    protected function getTimeUntilNextRetry($key)
    {
        return $this->retryAfter[$key] ?? parent::getTimeUntilNextRetry($key);
    }
}
