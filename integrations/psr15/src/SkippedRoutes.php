<?php

declare(strict_types=1);

namespace TokenBucket\Psr15;

use Psr\Http\Message\ServerRequestInterface;

/**
 * Tells which requests are not limited, by their routes.
 *
 *     new SkippedRoutes(['GET /health', '/assets/*'])
 */
final class SkippedRoutes
{
    /** @var list<Route> */
    private readonly array $routes;

    /**
     * @param array<string> $routes see Route
     *
     * @throws \InvalidArgumentException if one is not a route
     */
    public function __construct(array $routes)
    {
        $this->routes = array_map(Route::parse(...), array_values($routes));
    }

    public function __invoke(ServerRequestInterface $request): bool
    {
        // A path in another spelling may lead a router to another page, so it is limited: "/assets/%2e%2e/login".
        if (!Route::isPlain($request)) {
            return false;
        }
        foreach ($this->routes as $route) {
            if ($route->matches($request)) {
                return true;
            }
        }
        return false;
    }
}
