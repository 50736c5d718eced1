<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use WP_User;

/** What a name stands for, however it was written: an account, two of them, or none. */
final class Account
{
    /** In the place of an account: all that is sent from pages of other sites. */
    public const CROSS_SITE = 'x';

    /** @param list<WP_User> $users whose passwords WordPress compares, in its order */
    private function __construct(public readonly string $id, private readonly array $users)
    {
    }

    /**
     * Finds the users as WordPress does: by login and e-mail address, where the database takes many spellings for one.
     *
     * The id tells login ("l7") from address ("m0-7"): if both shared a limit, its denial would tell that they belong to one
     * account. Anyone may be able to register a login that is another user's address ("m9-7").
     */
    public static function named(string $name): self
    {
        $name = sanitize_user($name);
        $isAddress = (bool) is_email($name);
        $byLogin = get_user_by('login', $name) ?: null;
        $byAddress = $isAddress ? (get_user_by('email', $name) ?: null) : null;
        $users = array_values(array_filter([$byLogin, $byAddress?->ID === $byLogin?->ID ? null : $byAddress]));
        $id = match (true) {
            // What is no user's name may be a password in the wrong field, so it is not kept.
            $users === [] => 'n' . Storage::keyedHash(($isAddress ? 'address ' : 'name ') . self::collationKey($name), 16),
            $isAddress => sprintf('m%d-%d', $byLogin?->ID, $byAddress?->ID),
            default => "l{$byLogin?->ID}",
        };
        return new self($id, $users);
    }

    /** The user whose password WordPress compares first. */
    public function firstUser(): ?WP_User
    {
        return $this->users[0] ?? null;
    }

    /** The user whose password alone WordPress compares. */
    public function onlyUser(): ?WP_User
    {
        return count($this->users) === 1 ? $this->users[0] : null;
    }

    /** @return list<string> the ids under which the users of a name are limited */
    public static function idsOfUsersNamed(string $name): array
    {
        $names = [$name];
        foreach (self::named($name)->users as $user) {
            array_push($names, $user->user_login, $user->user_email);
        }
        return array_values(array_unique(array_map(fn (string $name): string => self::named($name)->id, $names)));
    }

    public static function isId(string $id): bool
    {
        return preg_match('/^(l\d{1,20}|m\d{1,20}-\d{1,20}|n[0-9a-f]{16}|' . self::CROSS_SITE . ')$/D', $id) === 1;
    }

    /** What an administrator is told about an account. */
    public static function describe(string $id): string
    {
        if ($id === self::CROSS_SITE) {
            return __('all users, from pages of other sites', 'token-bucket-login-guard');
        }
        $numbers = $id[0] === 'n' ? [] : array_unique(explode('-', substr($id, 1)));
        $users = array_filter(array_map(fn (string $number): WP_User|false => get_userdata((int) $number), $numbers));
        if ($users === []) {
            return __('a name without an account', 'token-bucket-login-guard');
        }
        $logins = implode(', ', array_map(fn (WP_User $user): string => $user->user_login, $users));
        /* translators: %s: login of a user */
        return $id[0] === 'm' ? sprintf(__('%s, by e-mail address', 'token-bucket-login-guard'), $logins) : $logins;
    }

    /** A text that is the same for all names that the database takes for one login. */
    private static function collationKey(string $name): string
    {
        global $wpdb;
        // The names have the collation of the column. Where it pads, spaces and what equals them do not count at the end.
        $sql = "SELECT SHA2(TRIM(TRAILING space FROM weight), 256) FROM (
                SELECT WEIGHT_STRING(name) AS weight, IF(name = CONCAT(name, space), WEIGHT_STRING(space), '') AS space FROM (
                    SELECT user_login AS name, user_login AS space FROM $wpdb->users WHERE 1 = 0 UNION ALL SELECT %s, ' '
                ) AS names
            ) AS weights";
        return Database::quietly(fn () => $wpdb->get_var($wpdb->prepare($sql, $name))) ?? strtolower($name);
    }
}
