<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use function TokenBucket\client_network;
use function TokenBucket\in_network;

/** Addresses as they stand in logs: quotes and brackets around them, and a name before them, are punctuation. */
final class Address
{
    /** No visitor from the internet has these: src/address.rs, is_private(). */
    private const PRIVATE = '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 127.0.0.0/8 100.64.0.0/10 169.254.0.0/16 fc00::/7 fe80::/10 ::1';
    private const PORT = '~:\d{1,5}$~D';

    /** @return list<string> the entries of a list with commas, from the right: the nearest one first */
    public static function entries(string $value): array
    {
        return array_map(self::bare(...), array_reverse(explode(',', $value)));
    }

    /** Without punctuation, such as `"for=[2001:db8::1]:4711;proto=https"`. */
    public static function bare(string $text): string
    {
        $text = (string) preg_replace('~^[\s"\'(<{+\\\\]*+(?:[\w.-]++="?+)?+|["\s]*+;.*+$~s', '', $text);
        return rtrim($text, " \t\"')>}+\\|");
    }

    /**
     * @param bool $has_port whether the addresses of this place have ports, for an IPv6 address does not show it
     *
     * @return string|null null if it is no address
     */
    public static function network(string $text, bool $has_port, int $ipv6_bits, int $ipv4_bits): ?string
    {
        if ($has_port && ($text[0] ?? '') !== '[' && substr_count($text, ':') > 1) {
            $text = (string) preg_replace(self::PORT, '', $text);
        }
        $network = client_network($text, $ipv6_bits, $ipv4_bits);
        return $network === 'unknown' ? null : $network;
    }

    /** Whether it is an address only without its port. */
    public static function hasPort(string $text): bool
    {
        return preg_match(self::PORT, $text) === 1 && self::network((string) preg_replace(self::PORT, '', $text), false, 128, 32) !== null
            && (substr_count($text, ':') === 1 || $text[0] === '[' || self::network($text, false, 128, 32) === null);
    }

    public static function isPrivate(string $network): bool
    {
        return in_network($network, self::PRIVATE);
    }
}
