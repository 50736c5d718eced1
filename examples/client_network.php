<?php
/*
 * What to limit by: a client's address, or the network it belongs to. A client with one IPv6 address usually has 2^64
 * of them, so a bucket for each address would not limit it.
 *
 *     require __DIR__ . '/client_network.php';
 *     $client = client_network(client_address($_SERVER));
 */
declare(strict_types=1);

/**
 * Returns the identifier of an address: an IPv4 address itself, or the IPv6 network of $bits bits, such as
 * "2001:db8:1:2::/64". An IPv4 address written as IPv6 (::ffff:192.0.2.1, and 64:ff9b::192.0.2.1 behind NAT64) is that
 * IPv4 address. A text that is no address is "unknown": all of those share a bucket.
 *
 * A /64 is the smallest network that a provider gives to a customer. Many give a /56 or a /48: add a second, larger
 * bucket for that.
 */
function client_network(string $address, int $bits = 64): string
{
    if ($bits < 1 || $bits > 128) {
        throw new ValueError('client_network(): Argument #2 ($bits) must be between 1 and 128');
    }
    $packed = packed_address($address);
    return match (strlen($packed)) {
        0 => 'unknown',
        4 => inet_ntop($packed),
        16 => inet_ntop(first_bits($packed, $bits)) . "/$bits",
    };
}

/**
 * Returns the client's address: REMOTE_ADDR, unless that is a trusted proxy. Each proxy adds its peer's address to the
 * right of X-Forwarded-For, so the client is the rightmost address there that is not a trusted proxy. Addresses further
 * to the left may have been written by the client.
 *
 * @param array<string, mixed> $server $_SERVER
 * @param list<string> $proxies addresses and networks: "10.0.0.5", "10.0.0.0/8", "2001:db8::/32"
 */
function client_address(array $server, array $proxies = []): string
{
    $address = (string) ($server['REMOTE_ADDR'] ?? '');
    $forwarded = explode(',', (string) ($server['HTTP_X_FORWARDED_FOR'] ?? ''));
    while (is_address_in($address, $proxies) && ($next = trim((string) array_pop($forwarded))) !== '') {
        // Some proxies add a port: 192.0.2.1:4711, [2001:db8::1]:4711.
        $address = preg_replace(['/^\[([^\]]*)\](:\d+)?$/D', '/^([\d.]+):\d+$/D'], '$1', $next);
    }
    return $address;
}

/** @param list<string> $networks */
function is_address_in(string $address, array $networks): bool
{
    $packed = packed_address($address);
    foreach ($networks as $network) {
        [$base, $bits] = explode('/', $network, 2) + [1 => '128'];
        $base = packed_address($base);
        // A malformed network matches no address, rather than every address.
        if ($packed === '' || strlen($packed) !== strlen($base) || !preg_match('/^\d{1,3}$/D', $bits)) {
            continue;
        }
        $bits = min((int) $bits, 8 * strlen($base));
        if (first_bits($packed, $bits) === first_bits($base, $bits)) {
            return true;
        }
    }
    return false;
}

/** The 4 or 16 bytes of an address, or none if the text is no address. */
function packed_address(string $address): string
{
    // A link-local address may name the interface: fe80::1%eth0.
    if (!preg_match('/^([0-9a-f:.]{2,45})(%[\w.-]+)?$/Di', $address, $parts)) {
        return '';
    }
    $packed = (string) @inet_pton($parts[1]);
    foreach (["\0\0\0\0\0\0\0\0\0\0\xff\xff", "\0\x64\xff\x9b\0\0\0\0\0\0\0\0"] as $dress) {
        if (strlen($packed) === 16 && str_starts_with($packed, $dress)) {
            return substr($packed, 12);
        }
    }
    return $packed;
}

/** Clears all bits of an address after the first ones. */
function first_bits(string $packed, int $bits): string
{
    $mask = str_repeat("\xff", intdiv($bits, 8)) . chr(0xff00 >> $bits % 8 & 0xff);
    return $packed & str_pad($mask, 16, "\0");
}
