<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\RateLimiter\LimiterInterface;

/**
 * The limits of login_throttling: of a network and user, and of a network alone. It takes the place of Symfony's
 * DefaultLoginRateLimiter, whose arguments it has.
 */
final class LoginRateLimiter extends RequestRateLimiter
{
    /** Where Symfony's security component keeps the user's name in a request: the same in all of its versions. */
    public const LAST_USERNAME = '_security.last_username';

    public function __construct(
        private LimiterFactory $global,
        private LimiterFactory $local,
        #[\SensitiveParameter] private string $secret = '',
    ) {
        parent::__construct($local, $global);
    }

    /** Resets the limit of network and user alone: else a client with one account could guess on at all others. */
    public function reset(Request $request): void
    {
        $this->localLimiter($request)->reset();
    }

    protected function getLimiters(Request $request): array
    {
        return [$this->localLimiter($request), $this->global->create(self::networkOf($request))];
    }

    /** The user's name is hashed, because identifiers appear in statistics, and what is typed there may be a password. */
    private function localLimiter(Request $request): LimiterInterface
    {
        $user = $request->attributes->get(self::LAST_USERNAME);
        $user = trim(is_string($user) ? $user : '');
        $user = preg_match('//u', $user) === 1 ? mb_strtolower($user, 'UTF-8') : strtolower($user);

        return $this->local->create(self::networkOf($request) . ' ' . substr(hash_hmac('sha256', $user, $this->secret), 0, 32));
    }
}
