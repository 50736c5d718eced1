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
        [$table, $now] = [self::table(), time()];
        $table->insert('INSERT IGNORE', $network, $accountId, 0, $now + $seconds);
        // A row that is found is changed, so a connection that counts found rows (MYSQLI_CLIENT_FOUND_ROWS) counts the same.
        $counted = Database::query("UPDATE $table->name SET used = IF(ends <= %d, 1, used + 1), ends = IF(ends <= %d, %d, ends)
            WHERE id = %s AND (ends <= %d OR used < %d)", [$now, $now, $now + $seconds, self::id($network, $accountId), $now, $limit]);
        Database::query("DELETE FROM $table->name WHERE ends < %d LIMIT 100", [$now]);
        return $counted > 0;
    }

    /** @param list<string> $ids */
    public static function giveBack(array $ids): void
    {
        foreach ($ids as $id) {
            Database::query('UPDATE ' . self::table()->name . ' SET used = used - 1 WHERE id = %s AND used > 0', [$id]);
        }
    }

    public static function giveBackAll(string $id): void
    {
        self::table()->remove($id);
    }

    /**
     * Forgets the guesses of a network, and those at some accounts from everywhere.
     *
     * @param list<string> $accountIds
     */
    public static function forget(?string $network, array $accountIds): void
    {
        if ($network !== null) {
            Database::query('DELETE FROM ' . self::table()->name . ' WHERE network = %s', [$network]);
        }
        foreach ($accountIds as $accountId) {
            Database::query('DELETE FROM ' . self::table()->name . ' WHERE account IN (%s, %s)', [$accountId, Client::basicAccount($accountId)]);
        }
    }

    public static function drop(): void
    {
        self::table()->drop();
    }

    public static function id(string $network, string $accountId): string
    {
        return ClientTable::id($network, $accountId);
    }

    private static function table(): ClientTable
    {
        return new ClientTable('token_bucket_counts', 'used', 'ends');
    }
}
