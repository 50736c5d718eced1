<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Symfony\Component\HttpFoundation\Response;
use TokenBucket\Decision;

/** Limits that were charged with one call. */
final class ChargedGroup
{
    /** @param mixed $afterCallback the limit's after(), or null */
    public function __construct(public readonly Decision $decision, private mixed $afterCallback)
    {
    }

    /** Gives the hit back if after() says that this response does not count. */
    public function settle(Response $response): void
    {
        if (is_callable($this->afterCallback) && !($this->afterCallback)($response)) {
            $this->decision->refund();
        }
    }
}
