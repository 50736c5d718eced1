<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;
use function TokenBucket\in_network;

/** What counts as one client: --by, and --proxies, which are no clients. */
final class ClientKey
{
    private const LONGEST = 256;

    /** @param list<string> $proxies */
    private function __construct(public readonly string $by, public readonly array $proxies, private int $ipv6Bits, private int $ipv4Bits)
    {
    }

    /**
     * @param list<string> $proxies
     *
     * @throws UsageError unless $by is address, network, user or field:NAME, and $proxies are addresses and networks
     */
    public static function from(string $by, array $proxies, int $ipv6Bits, int $ipv4Bits): self
    {
        if (!in_array($by, ['address', 'network', 'user'], true) && preg_match('~^field:.~s', $by) !== 1) {
            throw new UsageError('--by must be address, network, user, or field:NAME for a field of JSON lines; it is "' . Text::printable($by) . '"');
        }
        try {
            in_network('192.0.2.1', $proxies);
        } catch (\ValueError $error) {
            throw new UsageError('--proxies: ' . (string) preg_replace('~^.*?\) ~', '', $error->getMessage()));
        }
        return $by === 'address' ? new self($by, $proxies, 128, 32) : new self($by, $proxies, $ipv6Bits, $ipv4Bits);
    }

    /** Whether a client is an address, so that a log without addresses was misread. */
    public function isAddress(): bool
    {
        return in_array($this->by, ['address', 'network'], true);
    }

    /** The field that --by names, if it names one. */
    public function field(): ?string
    {
        return str_starts_with($this->by, 'field:') ? substr($this->by, strlen('field:')) : null;
    }

    public function network(string $address, bool $has_port): ?string
    {
        $network = Address::network($address, $has_port, $this->ipv6Bits, $this->ipv4Bits);
        return $network !== null && $this->by === 'address' ? explode('/', $network)[0] : $network;
    }

    public function isProxy(string $address, bool $has_port): bool
    {
        return $this->proxies !== [] && in_network(Address::network($address, $has_port, 128, 32) ?? '', $this->proxies);
    }

    /** A client that is no address, without line breaks and of bounded length; null if there is none. */
    public static function named(string $client): ?string
    {
        if ($client === '' || $client === '-') {
            return null;
        }
        if (strlen($client) > self::LONGEST) {
            // Two clients that begin alike stay two.
            $client = substr($client, 0, self::LONGEST - 20) . '...' . hash('xxh64', $client);
        }
        return strpbrk($client, "\n\r") === false ? $client : addcslashes($client, "\n\r");
    }
}
