<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\app;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;

/** A page that one limiter limits, Symfony's or another; or none. */
final class BenchPage
{
    /** @param object|null $limiter a factory of limiters: those of Symfony 5.4 have no common type */
    public function __construct(private ?object $limiter)
    {
    }

    public function __invoke(Request $request): Response
    {
        $is_accepted = $this->limiter === null || $this->limiter->create($request->query->get('client'))->consume()->isAccepted();

        return new Response('page', $is_accepted ? 200 : 429);
    }
}
