<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/**
 * A table of the blocks, for the page under Settings: a store cannot list them. Whether a client is blocked, the limits
 * alone decide. Without a table nothing is blocked.
 */
final class BlockList
{
    /** @param string $account an account's id; '' if the whole network is blocked */
    public static function add(string $network, string $account, int $nth, int $seconds): void
    {
        $insert = 'REPLACE INTO ' . self::table() . ' (id, network, account, nth, blocked_until) VALUES (%s, %s, %s, %d, %d)';
        $row = [self::id($network, $account), $network, $account, $nth, time() + $seconds];
        // A plugin may run without having been activated, so the table is made when the first block needs it.
        if (Database::query($insert, $row) === false) {
            self::create();
            Database::query($insert, $row);
        }
        Database::query('DELETE FROM ' . self::table() . ' WHERE blocked_until < %d', [time()]);
    }

    /** @return list<array{network: string, account: string, nth: int, until: int}> the last to end first */
    public static function all(): array
    {
        return self::rows('blocked_until >= %d', [time()]);
    }

    /** @return list<array{network: string, account: string, nth: int, until: int}> */
    public static function ofNetwork(string $network): array
    {
        return self::rows('network = %s', [$network]);
    }

    /** @return list<array{network: string, account: string, nth: int, until: int}> */
    public static function ofAccount(string $account): array
    {
        return self::rows('account = %s', [$account]);
    }

    public static function remove(string $network, string $account): void
    {
        Database::query('DELETE FROM ' . self::table() . ' WHERE id = %s', [self::id($network, $account)]);
    }

    public static function drop(): void
    {
        global $wpdb;
        $wpdb->query('DROP TABLE IF EXISTS ' . self::table());
    }

    private static function create(): void
    {
        global $wpdb;
        Database::quietly(fn () => $wpdb->query('CREATE TABLE IF NOT EXISTS ' . self::table() . ' (
            id CHAR(32) CHARACTER SET ascii NOT NULL PRIMARY KEY,
            network VARCHAR(64) CHARACTER SET ascii NOT NULL,
            account VARCHAR(64) CHARACTER SET ascii NOT NULL,
            nth INT UNSIGNED NOT NULL,
            blocked_until BIGINT UNSIGNED NOT NULL,
            KEY (network),
            KEY (account),
            KEY (blocked_until)
        )'));
    }

    /** All sites of a multisite share the table, as they share their users. */
    private static function table(): string
    {
        global $wpdb;
        return "{$wpdb->base_prefix}token_bucket_blocks";
    }

    private static function id(string $network, string $account): string
    {
        return md5("$network $account");
    }

    /**
     * @param list<int|string> $arguments
     *
     * @return list<array{network: string, account: string, nth: int, until: int}>
     */
    private static function rows(string $where, array $arguments): array
    {
        global $wpdb;
        $sql = 'SELECT network, account, nth, blocked_until FROM ' . self::table() . " WHERE $where ORDER BY blocked_until DESC LIMIT 200";
        $rows = Database::quietly(fn () => $wpdb->get_results($wpdb->prepare($sql, $arguments), ARRAY_A));
        return array_map(fn (array $row): array => [
            'network' => $row['network'],
            'account' => $row['account'],
            'nth' => (int) $row['nth'],
            'until' => (int) $row['blocked_until'],
        ], $rows ?: []);
    }
}
