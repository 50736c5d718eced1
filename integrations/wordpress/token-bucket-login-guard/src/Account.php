<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use WP_User;

/** The account that a guess is about, however its name was written. */
final class Account
{
    private function __construct(public readonly string $id, public readonly ?WP_User $user)
    {
    }

    /** Finds the account as WordPress does: by login or e-mail address, where the database takes many spellings for one. */
    public static function named(string $name): self
    {
        // The address first: anyone may be able to register a login that looks like another user's address.
        $user = (is_email($name) ? get_user_by('email', $name) : false) ?: get_user_by('login', $name);
        if ($user instanceof WP_User) {
            return new self("u$user->ID", $user);
        }
        // What is no user's name may be a password in the wrong field, so it is not kept.
        return new self('n' . Storage::keyedHash('name ' . strtolower(trim($name)), 16), null);
    }

    public static function isId(string $id): bool
    {
        return preg_match('/^(u\d{1,20}|n[0-9a-f]{16})$/D', $id) === 1;
    }

    /** What an administrator is told about an account. */
    public static function describe(string $id): string
    {
        $user = $id[0] === 'u' ? get_userdata((int) substr($id, 1)) : false;
        return $user ? $user->user_login : __('a name without an account', 'token-bucket-login-guard');
    }
}
