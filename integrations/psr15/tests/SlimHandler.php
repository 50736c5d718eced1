<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Closure;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;

/** The rest of a Slim 3 application, for a middleware of PSR-15, which Slim knows from version 4 on. */
final class SlimHandler implements RequestHandlerInterface
{
    private function __construct(private readonly Closure $next, private readonly ResponseInterface $response)
    {
    }

    /** A middleware in the form that Slim 3 takes. */
    public static function adapt(MiddlewareInterface $middleware): Closure
    {
        // Slim binds a closure to its container, so it must not be static.
        return fn (ServerRequestInterface $request, ResponseInterface $response, callable $next): ResponseInterface
            => $middleware->process($request, new self($next(...), $response));
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        return ($this->next)($request, $this->response);
    }
}
