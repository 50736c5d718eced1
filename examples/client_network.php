<?php
/*
 * Whom to limit: a client's address, and the network that it belongs to. Who has one IPv6 address mostly has 2^64 of
 * them, so a bucket for each would limit nobody.
 *
 *     require __DIR__ . '/client_network.php';
 *     $client = client_network(client_address($_SERVER));
 */
declare(strict_types=1);

/**
 * The identifier of an address: an IPv4 address as it is; of IPv6 the network of $bits bits, such as
 * "2001:db8:1:2::/64". An IPv4 address in the dress of an IPv6 one (::ffff:192.0.2.1, and 64:ff9b::192.0.2.1 behind
 * NAT64) is that IPv4 address. What is no address is "unknown": all those share a bucket.
 *
 * A /64 is the least that a provider gives to a customer. Many give a /56 or a /48, for which a second, looser bucket
 * may stand.
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
 * The client's address: REMOTE_ADDR, unless that is one of our own proxies. Then it is what they say:
 * X-Forwarded-For read from the right, where each of them has added who asked it, up to the first that is not ours.
 * What stands further to the left a client may have written himself.
 *
 * @param array<string, mixed> $server $_SERVER
 * @param list<string> $proxies addresses and networks: "10.0.0.5", "10.0.0.0/8", "2001:db8::/32"
 */
function client_address(array $server, array $proxies = []): string
{
    $address = (string) ($server['REMOTE_ADDR'] ?? '');
    $forwarded = explode(',', (string) ($server['HTTP_X_FORWARDED_FOR'] ?? ''));
    while (is_address_in($address, $proxies) && ($next = trim((string) array_pop($forwarded))) !== '') {
        // Some add a port: 192.0.2.1:4711, [2001:db8::1]:4711.
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
        // Rather nobody than everybody where there is a mistake.
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

/** The 4 or 16 bytes of an address, or none if it is no address. */
function packed_address(string $address): string
{
    // A link-local one may name the interface: fe80::1%eth0.
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

/** An address with all but its first bits cleared. */
function first_bits(string $packed, int $bits): string
{
    $mask = str_repeat("\xff", intdiv($bits, 8)) . chr(0xff00 >> $bits % 8 & 0xff);
    return $packed & str_pad($mask, 16, "\0");
}
