<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Clients' addresses: a network, or a single address, as its bytes and how many bits of them count. */
final class Address
{
    /** Networks whose addresses visitors from the internet do not have. A /64 of ::1 is ::. */
    private const PRIVATE_NETWORKS = [
        '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '169.254.0.0/16', '100.64.0.0/10', '::/127', 'fc00::/7', 'fe80::/10',
    ];

    private function __construct(private string $bytes, private int $bits) {}

    /** Reads an address, or an address and the number of its bits that count. Null if it is neither. */
    public static function parse(string $text): ?self
    {
        [$address, $bits] = [...explode('/', $text, 2), null];
        // A zone (fe80::1%eth0) is dropped.
        $address = str_contains($address, '%') ? preg_replace('/%[\w.-]+$/D', '', $address) : $address;
        if (filter_var($address, FILTER_VALIDATE_IP) === false) {
            return null;
        }
        $bytes = inet_pton($address);
        $most = 8 * strlen($bytes);
        if ($bits !== null && (!preg_match('/^\d{1,9}$/D', $bits) || $bits > $most)) {
            return null;
        }
        $bits = (int) ($bits ?? $most);
        // The first 96 bits of an IPv4 address in IPv6 form (RFC 4291, RFC 6052) only mark it as such.
        foreach (['::ffff:0:0', '64:ff9b::'] as $mark) {
            if ($most === 128 && str_starts_with($bytes, substr(inet_pton($mark), 0, 12))) {
                // Not all of IPv4, which no such text is meant to be: 64:ff9b::/96 is the prefix of NAT64.
                return $bits <= 96 ? null : new self(substr($bytes, 12), $bits - 96);
            }
        }
        return new self($bytes, $bits);
    }

    /** Reads what a client is counted by. A port after the address is dropped. */
    public static function ofClient(string $text): ?self { return self::parse(self::withoutPort($text)); }

    public static function isIpv6(string $text): bool
    {
        return str_contains($text, ':') && filter_var(explode('%', explode('/', $text)[0])[0], FILTER_VALIDATE_IP, FILTER_FLAG_IPV6) !== false;
    }

    /** Whether all addresses of the other network belong to this one. */
    public function holds(self $other): bool
    {
        $isSameKind = strlen($this->bytes) === strlen($other->bytes);
        return $isSameKind && $this->bits <= $other->bits && $this->base($other->bytes, $this->bits) === $this->base($this->bytes, $this->bits);
    }

    /** The identifier of the client's network: an IPv4 address or network, or an IPv6 network in the form of RFC 5952. */
    public function network(int $ipv6Bits, int $ipv4Bits): string
    {
        $isIpv4 = strlen($this->bytes) === 4;
        $bits = $isIpv4 ? $ipv4Bits : $ipv6Bits;
        $base = $this->base($this->bytes, $bits);
        $text = $isIpv4 ? inet_ntop($base) : self::ipv6($base);
        return $isIpv4 && $bits >= 32 ? $text : "$text/$bits";
    }

    /** The number of bits that count, and the network of so many around it; the latter null if it is larger. */
    public function key(?int $bits = null): array
    {
        $bits ??= $this->bits;
        return [$bits, $bits <= $this->bits && $bits <= 8 * strlen($this->bytes) ? strlen($this->bytes) . $this->base($this->bytes, $bits) : null];
    }

    /** Whether it has no bits beyond its length. */
    public function isBase(): bool { return $this->base($this->bytes, $this->bits) === $this->bytes; }

    public function isPrivate(): bool
    {
        foreach (self::PRIVATE_NETWORKS as $network) {
            if (self::parse($network)->holds($this)) {
                return true;
            }
        }
        return false;
    }

    /** An address without the port that some proxies and web servers add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
    public static function withoutPort(string $text): string
    {
        return preg_match('/^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/D', $text, $parts) ? $parts[1] . ($parts[2] ?? '') : $text;
    }

    /** The address of the client behind trusted proxies, from the right of X-Forwarded-For to the left. */
    public static function behind(?string $remote, string $forwarded, array $proxies, bool $trustsSocket): string
    {
        $address = self::withoutPort((string) $remote);
        $isTrusted = self::isProxy($remote, $proxies, $trustsSocket);
        foreach (array_reverse(explode(',', $forwarded)) as $entry) {
            $entry = trim($entry, " \t\n\r\f");
            if (!$isTrusted || $entry === '') {
                break;
            }
            $address = self::withoutPort($entry);
            $isTrusted = self::parse($address)?->isIn($proxies) ?? false;
        }
        return $address;
    }

    /** Whether the connection is that of a trusted proxy. Only a connection can come by a unix socket: an entry of the header may be the client's. */
    public static function isProxy(?string $remote, array $proxies, bool $trustsSocket): bool
    {
        return $remote === '' || $remote === 'unix:' ? $trustsSocket : self::parse(self::withoutPort((string) $remote))?->isIn($proxies) ?? false;
    }

    public function isIn(array $networks): bool
    {
        foreach ($networks as $network) {
            if ($network->holds($this)) {
                return true;
            }
        }
        return false;
    }

    private static function base(string $bytes, int $bits): string
    {
        $mask = str_repeat("\xff", intdiv($bits, 8)) . ($bits % 8 > 0 ? chr(0xff << (8 - ($bits % 8)) & 0xff) : '');
        return $bytes & str_pad($mask, strlen($bytes), "\0");
    }

    /** Not by inet_ntop(), which writes the end of some addresses as IPv4. */
    private static function ipv6(string $bytes): string
    {
        $text = implode(':', array_map('dechex', array_values(unpack('n8', $bytes))));
        preg_match_all('/\b0(?::0)+\b/', $text, $runs);
        $longest = array_reduce($runs[0], static fn(string $a, string $b): string => strlen($b) > strlen($a) ? $b : $a, '');
        if ($longest === '') {
            return $text;
        }
        [$before, $after] = preg_split('/(?:^|:)' . $longest . '(?::|$)/', $text, 2);
        return "$before::$after";
    }
}
