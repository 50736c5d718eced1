<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Closure;
use Nyholm\Psr7\Response;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\RequestHandlerInterface;

/** The page behind a middleware: remembers the requests that reach it. */
final class Page implements RequestHandlerInterface
{
    /** @var list<ServerRequestInterface> */
    public array $requests = [];

    /** @param Closure(ServerRequestInterface): ResponseInterface|null $answer by default 200 */
    public function __construct(private readonly ?Closure $answer = null)
    {
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        $this->requests[] = $request;
        return $this->answer === null ? new Response(200, [], 'the page') : ($this->answer)($request);
    }
}
