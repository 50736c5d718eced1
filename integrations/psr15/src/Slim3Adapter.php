<?php

declare(strict_types=1);

namespace TokenBucket\Psr15;

use Closure;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * Makes of a PSR-15 middleware one in the form that Slim 3 takes. Slim 4 takes the middleware itself.
 *
 *     $app->add(Slim3Adapter::adapt($middleware));
 */
final class Slim3Adapter implements RequestHandlerInterface
{
    private function __construct(private readonly Closure $next, private readonly ResponseInterface $response)
    {
    }

    /** @return Closure(ServerRequestInterface, ResponseInterface, callable): ResponseInterface */
    public static function adapt(MiddlewareInterface $middleware): Closure
    {
        // Slim binds a closure to its container, so it must not be static.
        return fn (ServerRequestInterface $request, ResponseInterface $response, callable $next): ResponseInterface
            => $middleware->process($request, new self($next(...), $response));
    }

    /** Runs the rest of the Slim 3 application. */
    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        return ($this->next)($request, $this->response);
    }
}
