<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** All requests of one client. */
final class ClientHits
{
    public const MOST_AGENTS = 10;

    public readonly int $requests;

    /**
     * @param non-empty-array<int, int> $times  how many requests at each time, in milliseconds, in order
     * @param string                    $agents the codes of its user agents, the first MOST_AGENTS
     */
    public function __construct(public readonly string $client, public readonly array $times, public readonly string $agents)
    {
        $this->requests = array_sum($times);
    }
}
