<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\app;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Attribute\RateLimit;
use TokenBucket\Symfony\LimiterFactory;

final class LimitedPage
{
    public function __construct(private LimiterFactory $searchLimiter)
    {
    }

    public function search(Request $request): Response
    {
        $limit = $this->searchLimiter->create($request->getClientIp())->consume();

        return new Response((string) $limit->getRemainingTokens(), $limit->isAccepted() ? 200 : 429);
    }

    #[RateLimit('search')]
    public function attribute(): Response
    {
        return new Response('limited by the attribute of Symfony 8.1');
    }
}
