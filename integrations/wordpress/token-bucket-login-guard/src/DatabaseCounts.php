<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** A table that counts guesses in fixed windows, for the time in which the store cannot be used. */
final class DatabaseCounts
{
    /**
     * Counts one guess. One statement looks and counts, so that guesses at the same time do not pass together.
     *
     * @return bool false if the window has $limit guesses, or if the database cannot count
     */
    public static function take(string $network, string $accountId, int $limit, int $seconds): bool
    {
        [$id, $now] = [self::id($network, $accountId), time()];
        $insert = 'INSERT IGNORE INTO ' . self::table() . ' (id, network, account, used, ends) VALUES (%s, %s, %s, 0, %d)';
        $values = [$id, $network, $accountId, $now + $seconds];
        if (Database::query($insert, $values) === false) {
            self::create();
            Database::query($insert, $values);
        }
        // A row that is found is changed, so a connection that counts found rows (MYSQLI_CLIENT_FOUND_ROWS) counts the same.
        $counted = Database::query('UPDATE ' . self::table() . ' SET used = IF(ends <= %d, 1, used + 1), ends = IF(ends <= %d, %d, ends)
            WHERE id = %s AND (ends <= %d OR used < %d)', [$now, $now, $now + $seconds, $id, $now, $limit]);
        Database::query('DELETE FROM ' . self::table() . ' WHERE ends < %d LIMIT 100', [$now]);
        return $counted > 0;
    }

    /** @param list<string> $ids */
    public static function giveBack(array $ids): void
    {
        foreach ($ids as $id) {
            Database::query('UPDATE ' . self::table() . ' SET used = used - 1 WHERE id = %s AND used > 0', [$id]);
        }
    }

    public static function giveBackAll(string $id): void
    {
        Database::query('DELETE FROM ' . self::table() . ' WHERE id = %s', [$id]);
    }

    /**
     * Forgets the guesses of a network, and those at some accounts from everywhere.
     *
     * @param list<string> $accountIds
     */
    public static function forget(?string $network, array $accountIds): void
    {
        if ($network !== null) {
            Database::query('DELETE FROM ' . self::table() . ' WHERE network = %s', [$network]);
        }
        foreach ($accountIds as $accountId) {
            Database::query('DELETE FROM ' . self::table() . ' WHERE account IN (%s, %s)', [$accountId, Client::basicAccount($accountId)]);
        }
    }

    public static function drop(): void
    {
        global $wpdb;
        $wpdb->query('DROP TABLE IF EXISTS ' . self::table());
    }

    public static function id(string $network, string $accountId): string
    {
        return md5("$network $accountId");
    }

    private static function create(): void
    {
        Database::quietly(fn () => $GLOBALS['wpdb']->query('CREATE TABLE IF NOT EXISTS ' . self::table() . ' (
            id CHAR(32) CHARACTER SET ascii NOT NULL PRIMARY KEY,
            network VARCHAR(64) CHARACTER SET ascii NOT NULL,
            account VARCHAR(64) CHARACTER SET ascii NOT NULL,
            used INT UNSIGNED NOT NULL,
            ends BIGINT UNSIGNED NOT NULL,
            KEY (network),
            KEY (account),
            KEY (ends)
        )'));
    }

    /** All sites of a multisite share the table, as they share their users. */
    private static function table(): string
    {
        global $wpdb;
        return "{$wpdb->base_prefix}token_bucket_counts";
    }
}
