<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\UsageError;
use function TokenBucket\client_address;
use function TokenBucket\client_network;

/** The address of a log's client, as the application finds it: ports, brackets and forwarded lists are read by client_address() alone. */
final class ClientAddress
{
    /** Addresses that no client of the Internet has, so in a forwarded list they are proxies. */
    private const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', 'fc00::/7', 'fe80::/10', '::1'];
    /** Makes client_address() look at the forwarded list alone. */
    private const NO_CONNECTION = 'unix:';
    /** For documentation: no proxy has it. */
    private const ANY_CLIENT = '192.0.2.255';

    /** @var list<string> */
    private array $proxies;

    /**
     * @param list<string> $proxies of the application, besides private addresses
     *
     * @throws UsageError if one is not an address or network
     */
    public function __construct(array $proxies = [])
    {
        $this->proxies = [self::NO_CONNECTION, ...self::PRIVATE, ...$proxies];
        try {
            client_address([], $this->proxies);
        } catch (\ValueError $error) {
            throw new UsageError('--proxies: ' . (string) preg_replace('~^.*?\) ~', '', $error->getMessage()));
        }
    }

    /**
     * @param string $address   as the log has it: with a port, in brackets, or several with commas between
     * @param string $forwarded the X-Forwarded-For that the log has beside it
     */
    public function of(string $address, string $forwarded = ''): string
    {
        $address = client_address(['REMOTE_ADDR' => self::NO_CONNECTION, 'HTTP_X_FORWARDED_FOR' => $address], $this->proxies);
        if ($forwarded === '' || $forwarded === '-') {
            return $address;
        }
        $remote = $address === '' || $address === '-' ? self::NO_CONNECTION : $address;
        return client_address(['REMOTE_ADDR' => $remote, 'HTTP_X_FORWARDED_FOR' => $forwarded], $this->proxies);
    }

    /** @return string|null null if it is no address */
    public function network(string $address, string $forwarded, int $ipv6_bits, int $ipv4_bits): ?string
    {
        // Most addresses are plain: one call is enough.
        $network = $forwarded === '' ? client_network($address, $ipv6_bits, $ipv4_bits) : 'unknown';
        if ($network === 'unknown') {
            $network = client_network($this->of($address, $forwarded), $ipv6_bits, $ipv4_bits);
        }
        return $network === 'unknown' ? null : $network;
    }

    /** @return string|null the address in one form; null if it is none */
    public function parse(string $address): ?string
    {
        $network = $this->network($address, '', 128, 32);
        return $network === null ? null : explode('/', $network)[0];
    }

    /** Whether a forwarded list is believed if the connection comes from there. */
    public function isProxy(string $address): bool
    {
        return client_address(['REMOTE_ADDR' => $address, 'HTTP_X_FORWARDED_FOR' => self::ANY_CLIENT], $this->proxies) === self::ANY_CLIENT;
    }
}
