<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** How many clients have how many requests, counted by powers of two. */
final class Volumes
{
    /** Of fewer clients none is usual. */
    private const FEWEST_CLIENTS = 20;
    /** A power of two that so small a share of the clients has is beyond what is usual. */
    private const RARE_SHARE = 0.01;

    /** @param array<int, int> $clients by the number of bits of their requests */
    public function __construct(private array $clients = [])
    {
    }

    public function add(int $requests): void
    {
        $bits = strlen(decbin($requests));
        $this->clients[$bits] = ($this->clients[$bits] ?? 0) + 1;
    }

    /** @return array<int, int> for merge() in another process */
    public function export(): array
    {
        return $this->clients;
    }

    /** @param array<int, int> $exported */
    public function merge(array $exported): void
    {
        foreach ($exported as $bits => $count) {
            $this->clients[$bits] = ($this->clients[$bits] ?? 0) + $count;
        }
    }

    /**
     * What nearly all clients have at most; 0 if there are too few to tell.
     *
     * From the median up to the first power of two that hardly any client has: so clients far above do not raise it, however
     * many they are.
     */
    public function usual(): int
    {
        $all = array_sum($this->clients);
        if ($all < self::FEWEST_CLIENTS) {
            return 0;
        }
        $below = 0;
        for ($bits = 1; 2 * $below < $all || ($this->clients[$bits] ?? 0) > self::RARE_SHARE * $all; $bits++) {
            $below += $this->clients[$bits] ?? 0;
        }
        return 2 ** ($bits - 1) - 1;
    }
}
