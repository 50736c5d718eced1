<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use function TokenBucket\client_address;
use function TokenBucket\client_network;
use function TokenBucket\in_network;

/** Where a request comes from. */
final class Client
{
    /**
     * Stands behind the network, and before the account, in limits of application passwords. They have limits of their own: a
     * browser sends credentials of something else, such as a proxy's htpasswd, with each request.
     */
    private const BASIC = 'basic';

    private function __construct(
        public readonly string $address,
        public readonly string $network,
        public readonly bool $isCrossSite,
        private readonly bool $isBasic = false,
    ) {
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

    /** The same client with an application password. Pages of other sites have one limit for all that they send. */
    public function withApplicationPassword(): self
    {
        return $this->isCrossSite ? $this : new self($this->address, self::basicNetwork($this->network), false, true);
    }

    /** What a network is called in the limits of application passwords. */
    public static function basicNetwork(string $network): string
    {
        return "$network " . self::BASIC;
    }

    /** What an account is called in them. */
    public static function basicAccount(string $id): string
    {
        return self::BASIC . " $id";
    }

    /** Names the limit of an account, from browsers that are new to it. */
    public function limitOfAccount(string $id): string
    {
        return $this->isBasic ? self::basicAccount($id) : $id;
    }

    /** Whether a text is an address or a network, such as 10.0.0.0/8. */
    public static function isNetwork(mixed $text): bool
    {
        try {
            return is_string($text) && !in_network('', [$text]);
        } catch (\ValueError) {
            return false;
        }
    }

    /** Whether a text names a proxy: an address, a network, or "unix:", behind which a web server has no address. */
    public static function isProxy(mixed $text): bool
    {
        return $text === 'unix:' || self::isNetwork($text);
    }

    /** @param list<string> $networks addresses and networks, IPv4 and IPv6 */
    public function isIn(array $networks): bool
    {
        return in_network($this->address, $networks);
    }

    /** Whether the request came through a proxy that is not in the settings, so that all its clients seem to be one. */
    public static function isBehindUnknownProxy(Settings $settings): bool
    {
        $peer = client_address(array_intersect_key($_SERVER, ['REMOTE_ADDR' => true]));
        $proxies = $settings->list('trusted_proxies');
        $isKnown = in_array($peer, ['', 'unix:'], true) ? in_array('unix:', $proxies, true) : in_network($peer, array_diff($proxies, ['unix:']));
        return !empty($_SERVER['HTTP_X_FORWARDED_FOR']) && !$isKnown;
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
