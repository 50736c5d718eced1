<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use function TokenBucket\client_address;
use function TokenBucket\client_network;

/** Where a request comes from. */
final class Client
{
    private function __construct(public readonly string $address, public readonly string $network, public readonly bool $isCrossSite)
    {
    }

    public static function ofRequest(Settings $settings): self
    {
        $address = client_address($_SERVER, $settings->list('trusted_proxies'));
        return new self($address, client_network($address), self::isCrossSiteRequest());
    }

    public static function at(string $address): self
    {
        return new self($address, client_network($address), false);
    }

    /** Whether a text is an address or a network, such as 10.0.0.0/8. */
    public static function isNetwork(mixed $text): bool
    {
        try {
            return is_string($text) && client_address([], [$text]) === '';
        } catch (\ValueError) {
            return false;
        }
    }

    /** @param list<string> $networks addresses and networks, IPv4 and IPv6 */
    public function isIn(array $networks): bool
    {
        // For a trusted proxy client_address() returns what the header says, for every other peer the peer's address, which
        // may itself be any text.
        $request = ['REMOTE_ADDR' => $this->address, 'HTTP_X_FORWARDED_FOR' => 'no address'];
        return client_address($request, $networks) !== $this->address;
    }

    /** Whether the request came through a proxy that is not in the settings, so that all its clients seem to be one. */
    public static function isBehindUnknownProxy(Settings $settings): bool
    {
        return !empty($_SERVER['HTTP_X_FORWARDED_FOR'])
            && !self::at((string) ($_SERVER['REMOTE_ADDR'] ?? ''))->isIn($settings->list('trusted_proxies'));
    }

    /** Whether a browser sent the request for a page of another site. Clients that are no browsers may say what they like. */
    private static function isCrossSiteRequest(): bool
    {
        $origin = get_http_origin();
        // Browsers send Origin with every POST and every fetch() of another site; a page can have it say "null".
        if ($origin === '' || ($_SERVER['HTTP_SEC_FETCH_SITE'] ?? '') === 'same-origin') {
            return false;
        }
        $isSameHost = preg_replace('~^https?://~', '', $origin) === ($_SERVER['HTTP_HOST'] ?? '');
        return !$isSameHost && !is_allowed_http_origin($origin);
    }
}
