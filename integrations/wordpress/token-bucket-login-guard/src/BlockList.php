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
        self::table()->insert('REPLACE', $network, $account, $nth, time() + $seconds);
        Database::query('DELETE FROM ' . self::table()->name . ' WHERE blocked_until < %d', [time()]);
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
        self::table()->remove(ClientTable::id($network, $account));
    }

    public static function drop(): void
    {
        self::table()->drop();
    }

    private static function table(): ClientTable
    {
        return new ClientTable('token_bucket_blocks', 'nth', 'blocked_until');
    }

    /**
     * @param list<int|string> $arguments
     *
     * @return list<array{network: string, account: string, nth: int, until: int}>
     */
    private static function rows(string $where, array $arguments): array
    {
        global $wpdb;
        $sql = 'SELECT network, account, nth, blocked_until FROM ' . self::table()->name . " WHERE $where ORDER BY blocked_until DESC LIMIT 200";
        $rows = Database::quietly(fn () => $wpdb->get_results($wpdb->prepare($sql, $arguments), ARRAY_A));
        return array_map(fn (array $row): array => [
            'network' => $row['network'],
            'account' => $row['account'],
            'nth' => (int) $row['nth'],
            'until' => (int) $row['blocked_until'],
        ], $rows ?: []);
    }
}
