<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** How many clients have how many requests, counted by powers of two. */
final class Volumes
{
    /** Of fewer clients none is usual. */
    private const FEWEST_CLIENTS = 20;
    private const MANY_REQUESTS = 500;
    private const NEARLY_ALL = 0.9;
    /** A power of two that so small a share of the clients has is beyond what is usual. */
    private const RARE_SHARE = 0.01;

    /** @var array<int, int> how many clients by the number of bits of their requests */
    private array $clients = [];
    private int $requests = 0;
    /** @var list<int> the most requests of a client, of as many clients as are few */
    private array $most = [];
    /** @var list<string> some clients; all of them if they are few */
    private array $first = [];

    public function add(string $client, int $requests): void
    {
        if (count($this->first) < self::FEWEST_CLIENTS) {
            $this->first[] = $client;
        }
        $bits = strlen(decbin($requests));
        $this->clients[$bits] = ($this->clients[$bits] ?? 0) + 1;
        $this->requests += $requests;
        if (count($this->most) < self::FEWEST_CLIENTS - 1 || $requests > end($this->most)) {
            $this->most[] = $requests;
            rsort($this->most);
            $this->most = array_slice($this->most, 0, self::FEWEST_CLIENTS - 1);
        }
    }

    /** Why the clients may be proxies, or the only client something that this host runs; null if nothing looks so. */
    public function doubt(): ?string
    {
        if (count($this->first) < self::FEWEST_CLIENTS && array_filter($this->first, Address::isPrivate(...)) === $this->first) {
            return 'all clients (' . count($this->first) . ") have private addresses, such as {$this->first[0]}";
        }
        return $this->requests >= self::MANY_REQUESTS && array_sum($this->most) >= self::NEARLY_ALL * $this->requests
            ? 'few clients (' . count($this->most) . ') have nine tenths of ' . number_format($this->requests) . " requests, such as {$this->first[0]}" : null;
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
