<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Answer;
use Http;
use PhpServer;

/** The application of app.php behind PHP's own web server with eight processes. */
final class Site
{
    private readonly PhpServer $server;

    /** @param array<string, string> $directives of PHP */
    public function __construct(array $directives = [])
    {
        $this->server = new PhpServer(__DIR__ . '/app.php', 8, $directives + ['token_bucket.limits' => __DIR__ . '/limits.ini']);
    }

    public function log(): string
    {
        return $this->server->log();
    }

    /**
     * Sends requests, all at once, and returns the answers in their order.
     *
     * @param list<array{string, string, 2?: string}> $requests method, target, body
     * @param string $client the address that the requests are forwarded for
     *
     * @return list<Answer>
     */
    public function send(array $requests, string $client): array
    {
        $headers = ["X-Forwarded-For: $client", 'Content-Type: text/plain'];
        return Http::send_all($this->server->port, array_map(fn (array $request): array => [$request[1], $headers, $request[2] ?? '', $request[0]], $requests));
    }
}
