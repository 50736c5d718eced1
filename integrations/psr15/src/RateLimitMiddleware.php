<?php

declare(strict_types=1);

namespace TokenBucket\Psr15;

use Closure;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;
use TokenBucket\Decision;
use TokenBucket\Limiter;

use function TokenBucket\limiter;

/**
 * Asks a limit before each request is handled, and answers with 429 or 503 if it denies, as the problem says.
 *
 * The decision is an attribute of the request, Decision::class. A handler in which only failures count calls its refund(), and one
 * that knows the cost only afterwards its settle(); or its answer tells the cost in a header.
 */
final class RateLimitMiddleware implements MiddlewareInterface
{
    /** @var Closure(string|array<string>, ServerRequestInterface): Limiter */
    private readonly Closure $limiterFor;

    /** @var Closure(ServerRequestInterface): mixed */
    private readonly Closure $clientOf;

    /** @var Closure(ServerRequestInterface): mixed */
    private readonly Closure $costOf;

    /** @var Closure(ServerRequestInterface): mixed */
    private readonly Closure $isSkipped;

    /**
     * @param string|callable $limit the name of a limit in the file of token_bucket.limits, or a function that makes the limiter:
     *     fn (string $client, ServerRequestInterface $request): Limiter
     * @param ResponseFactoryInterface $responses makes the answers with status 429 or 503
     * @param callable|null $client names the client: fn (ServerRequestInterface $request): string|int. By default its network,
     *     see ClientNetwork. For a named set of limits it may return an array of strings, as TokenBucket\limiter() takes
     * @param int|array<string, int>|callable $cost the tokens that a request costs: a number, numbers by route, see CostByRoute, or
     *     fn (ServerRequestInterface $request): int
     * @param array<string>|callable $skip the routes that are not limited, see SkippedRoutes, or
     *     fn (ServerRequestInterface $request): bool
     * @param bool $showLimits whether answers tell the limit and what is left of it. False for a login, so that a guesser does not
     *     learn it: only a denial then has a field, Retry-After
     * @param string|null $costHeader the header in which an answer of the handler tells what the request cost, a whole number: it is
     *     charged in place of $cost, the estimate, and the header is removed. An answer without it leaves the estimate charged
     *
     * @throws \InvalidArgumentException if the limit's or the header's name is empty, or a route or a cost is invalid
     * @throws \LogicException without the extension token_bucket
     */
    public function __construct(
        string|callable $limit,
        private readonly ResponseFactoryInterface $responses,
        ?callable $client = null,
        int|array|callable $cost = 1,
        array|callable $skip = [],
        private readonly bool $showLimits = true,
        private readonly ?string $costHeader = null,
    ) {
        Extension::check();
        if ($limit === '') {
            throw new \InvalidArgumentException('$limit must be the name of a limit or a function that makes a limiter');
        }
        if ($costHeader === '') {
            throw new \InvalidArgumentException('$costHeader must be the name of a header or null');
        }
        // A string is always a name, for a limit may have the name of a function, such as "key" or "file".
        $this->limiterFor = is_string($limit)
            ? static fn (string|array $client): Limiter => limiter($limit, $client)
            : Closure::fromCallable($limit);
        $this->clientOf = Closure::fromCallable($client ?? new ClientNetwork());
        if (!is_callable($cost)) {
            $cost = new CostByRoute(is_int($cost) ? [] : $cost, is_int($cost) ? $cost : 1);
        }
        $this->costOf = Closure::fromCallable($cost);
        $this->isSkipped = Closure::fromCallable(is_callable($skip) ? $skip : new SkippedRoutes($skip));
    }

    public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface
    {
        $isSkipped = ($this->isSkipped)($request);
        if (!is_bool($isSkipped)) {
            throw self::wrongResult('skip', 'true or false', $isSkipped);
        }
        if ($isSkipped) {
            return $handler->handle($request);
        }
        $decision = $this->decide($request);
        $response = $decision->isAccepted()
            ? $this->settled($handler->handle($request->withAttribute(Decision::class, $decision)), $decision)
            : $this->denial($decision);
        return $this->withHeaders($response, $decision);
    }

    private function decide(ServerRequestInterface $request): Decision
    {
        $client = ($this->clientOf)($request);
        if (is_int($client)) {
            $client = (string) $client;
        } elseif (!is_string($client) && !is_array($client)) {
            throw self::wrongResult('client', 'a string that names the client', $client);
        }
        $cost = ($this->costOf)($request);
        if (!is_int($cost) || $cost < 0) {
            throw self::wrongResult('cost', 'a whole number of 0 or more', $cost);
        }
        $limiter = ($this->limiterFor)($client, $request);
        if (!$limiter instanceof Limiter) {
            throw self::wrongResult('limit', 'a TokenBucket\Limiter', $limiter);
        }
        return $limiter->attempt($cost);
    }

    private static function wrongResult(string $argument, string $expected, mixed $result): \UnexpectedValueException
    {
        $given = is_int($result) ? $result : get_debug_type($result);
        return new \UnexpectedValueException("The function \$$argument of RateLimitMiddleware must return $expected, $given returned");
    }

    private function settled(ResponseInterface $response, Decision $decision): ResponseInterface
    {
        if ($this->costHeader === null || !$response->hasHeader($this->costHeader)) {
            return $response;
        }
        $cost = $response->getHeaderLine($this->costHeader);
        if (!ctype_digit($cost)) {
            throw new \UnexpectedValueException("The header $this->costHeader must be a whole number of 0 or more, \"$cost\" given");
        }
        $decision->settle((int) $cost);
        return $response->withoutHeader($this->costHeader);
    }

    private function denial(Decision $decision): ResponseInterface
    {
        $problem = $decision->getProblem();
        if (!$this->showLimits) {
            unset($problem['violated-policies']);
        }
        $response = $this->responses->createResponse($problem['status']);
        $response->getBody()->write(json_encode($problem, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES));
        return $response->withHeader('Content-Type', 'application/problem+json')->withHeader('Cache-Control', 'no-store');
    }

    private function withHeaders(ResponseInterface $response, Decision $decision): ResponseInterface
    {
        foreach ($decision->getHeaders() as $name => $value) {
            if ($name === 'Retry-After') {
                $response = $response->withHeader($name, $value);
            } elseif ($this->showLimits) {
                // Added, because a limit within the handler may have written its own: the fields are lists.
                $response = $response->withAddedHeader($name, $value);
            }
        }
        return $response;
    }
}
