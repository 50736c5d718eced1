<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use Answer;
use Http;
use PhpServer;

/** The application behind PHP's own server, with several workers. */
final class Site
{
    private readonly PhpServer $server;

    /**
     * @param array<string, string> $environment
     * @param array<string, string> $directives of PHP
     */
    public function __construct(int $workers, array $environment = [], array $directives = [])
    {
        $this->server = new PhpServer(getenv('TB_LARAVEL_APP') . '/public/index.php', $workers, $directives, $environment);
    }

    /**
     * @param list<array{0: string, 1?: array<string, string>}> $requests path and headers, sent at the same time
     * @return list<Answer> in the same order
     */
    public function get(array $requests): array
    {
        return Http::send_all($this->server->port, array_map(static function (array $request): array {
            $headers = $request[1] ?? [];
            return [$request[0], ['Accept: application/json', ...array_map(static fn (string $name): string => "$name: $headers[$name]", array_keys($headers))]];
        }, $requests));
    }

    /** How many of so many requests at the same time were answered with a status. */
    public function count(int $status, string $path, int $requests, array $headers = []): int
    {
        $answers = $this->get(array_fill(0, $requests, [$path, $headers]));

        return count(array_filter($answers, static fn (Answer $answer) => $answer->status === $status));
    }

    public function stop(): void
    {
        $this->server->stop();
    }
}
