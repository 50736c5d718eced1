<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use TokenBucket;

/** Where the limits are kept: the extension or its stand-in, and the store that wp-config.php may name. */
final class Storage
{
    /** Whether the extension's classes are there: its own, or those of the stand-in. */
    public static function isExtensionLoaded(): bool
    {
        // Compound is the newest class that the plugin uses.
        return class_exists(TokenBucket\Compound::class);
    }

    /** The directive token_bucket.enforce. Of the stand-in's directives PHP knows those of php.ini alone. */
    public static function isEnforced(): bool
    {
        $value = ini_get('token_bucket.enforce');
        $value = $value === false ? get_cfg_var('token_bucket.enforce') : $value;
        return $value === false || filter_var($value, FILTER_VALIDATE_BOOLEAN);
    }

    /**
     * Makes a limiter that denies nobody: it reads the directive when it is made.
     *
     * @param callable(): TokenBucket $make
     */
    public static function inDryRun(callable $make): TokenBucket
    {
        $enforce = ini_set('token_bucket.enforce', '0');
        $isStandIn = function_exists('TokenBucket\StandIn\configure');
        if ($isStandIn) {
            TokenBucket\StandIn\configure(['enforce' => false]);
        }
        try {
            return $make();
        } finally {
            if ($enforce !== false) {
                ini_set('token_bucket.enforce', $enforce);
            }
            if ($isStandIn) {
                TokenBucket\StandIn\configure(['enforce' => self::isEnforced()]);
            }
        }
    }

    /** A DSN, or null for token_bucket.storage. It stands in wp-config.php, because it may contain a password. */
    public static function dsn(): ?string
    {
        return defined('TOKEN_BUCKET_LOGIN_GUARD_STORAGE') ? (string) constant('TOKEN_BUCKET_LOGIN_GUARD_STORAGE') : null;
    }

    /** Why the store cannot be used; null if it can. */
    public static function failure(): ?string
    {
        try {
            $decision = TokenBucket::per(self::dsn(), 'wp_login_probe:', 1, 1)->peek();
            return $decision->isDegraded() ? 'The server does not answer.' : null;
        } catch (TokenBucket\TokenBucketException $exception) {
            return $exception->getMessage();
        }
    }

    /** Tells the sites of one PHP user apart, which may share a store. */
    public static function site(): string
    {
        return self::keyedHash('site', 8);
    }

    /** A hash that nobody can make without the secret keys in wp-config.php. */
    public static function keyedHash(string $text, int $length): string
    {
        return substr(hash_hmac('sha256', "token-bucket-login-guard $text", wp_salt('auth')), 0, $length);
    }
}
