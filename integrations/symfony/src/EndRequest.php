<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use function TokenBucket\end_request;

/** Ends the request for the extension at kernel.terminate: PHP sees no end of it in a worker that serves many requests. */
final class EndRequest
{
    public function __invoke(): void
    {
        end_request();
    }
}
