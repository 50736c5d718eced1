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

    /** What an administrator has to know of the store: that it cannot be used, and who limits logins then. Null if it can. */
    public static function problem(): ?string
    {
        try {
            $isDegraded = TokenBucket::per(self::dsn(), 'wp_login_probe:', 1, 1)->peek()->isDegraded();
            return $isDegraded ? __('The server of the limits does not answer, so on_error decides logins.', 'token-bucket-login-guard') : null;
        } catch (TokenBucket\ConfigurationException $exception) {
            /* translators: %s: message of the extension */
            $text = __('Logins are not limited, because the store of the limits cannot be used: %s The storage DSN is token_bucket.storage in php.ini, or TOKEN_BUCKET_LOGIN_GUARD_STORAGE in wp-config.php.', 'token-bucket-login-guard');
        } catch (TokenBucket\TokenBucketException $exception) {
            /* translators: %s: message of the extension */
            $text = __('The store of the limits cannot be used, so WordPress\'s database counts failed logins, and nobody is blocked: %s', 'token-bucket-login-guard');
        }
        return sprintf($text, rtrim($exception->getMessage(), '.') . '.');
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
