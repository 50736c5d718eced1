<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\RateLimiter;

use function TokenBucket\client_network;

class LoginController
{
    private const ATTEMPTS = 5;

    /** The README's login: each attempt is counted before the password is looked at, and a success clears the count. */
    public function chargeFirst(Request $request): Response
    {
        $key = $this->key($request);
        if (!RateLimiter::attempt($key, self::ATTEMPTS, static fn () => true, 300)) {
            return response('Too many attempts.', 429, ['Retry-After' => RateLimiter::availableIn($key)]);
        }
        if (!$this->isPasswordRight($request)) {
            return response('wrong', 401);
        }
        RateLimiter::clear($key);

        return response('in');
    }

    /** The calls of ThrottlesLogins and of Laravel's documentation: ask, try, count a failure, clear at a success. */
    public function asDocumented(Request $request): Response
    {
        $key = $this->key($request);
        if (RateLimiter::tooManyAttempts($key, self::ATTEMPTS)) {
            return response('Too many attempts.', 429, ['Retry-After' => RateLimiter::availableIn($key)]);
        }
        if (!$this->isPasswordRight($request)) {
            RateLimiter::hit($key);

            return response('wrong', 401);
        }
        RateLimiter::clear($key);

        return response('in');
    }

    private function key(Request $request): string
    {
        return mb_strtolower((string) $request->query('user')) . '|' . client_network($request->ip());
    }

    private function isPasswordRight(Request $request): bool
    {
        return password_verify((string) $request->query('password'), password_hash('correct horse', PASSWORD_BCRYPT, ['cost' => 8]));
    }
}
