<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use WP_User;

/**
 * The cookie of a browser that a user has logged in with. It has a limit of its own, so that guesses from elsewhere do not
 * lock the user out. It is valid for this user and password only.
 */
final class KnownBrowser
{
    /** Names the limit of this browser; null if the user has never logged in with it. */
    public static function of(WP_User $user): ?string
    {
        $token = $_COOKIE[self::cookie($user)] ?? '';
        if (!is_string($token)) {
            return null;
        }
        // The time is cut off first, because "1826821435.0e9a" would be read as a number with an exponent.
        $until = (int) strtok($token, '.');
        return $until > time() && hash_equals(self::token($user, $until), $token) ? Storage::keyedHash("browser $token", 16) : null;
    }

    public static function remember(WP_User $user): void
    {
        // WordPress may have stored another hash of the password while it logged the user in.
        $user = get_userdata($user->ID);
        if (!$user || headers_sent()) {
            return;
        }
        $until = time() + YEAR_IN_SECONDS;
        setcookie(self::cookie($user), self::token($user, $until), [
            'expires' => $until,
            'path' => SITECOOKIEPATH,
            'domain' => (string) COOKIE_DOMAIN,
            'secure' => is_ssl(),
            'httponly' => true,
            'samesite' => 'Lax',
        ]);
    }

    /** Users who share a browser have a cookie each. */
    private static function cookie(WP_User $user): string
    {
        return 'token_bucket_browser_' . Storage::keyedHash("cookie $user->ID", 12);
    }

    private static function token(WP_User $user, int $until): string
    {
        return "$until." . Storage::keyedHash("token $until $user->ID $user->user_pass", 64);
    }
}
