<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** A table of WordPress's database with a row for each network and account: a number, and a Unix time until which it counts. */
final class ClientTable
{
    /** All sites of a multisite share the table, as they share their users. */
    public readonly string $name;

    public function __construct(string $name, private readonly string $number, private readonly string $until)
    {
        global $wpdb;
        $this->name = "{$wpdb->base_prefix}$name";
    }

    public static function id(string $network, string $account): string
    {
        return md5("$network $account");
    }

    /**
     * Inserts a row. A plugin may run without having been activated, so the table is made when the first row needs it.
     *
     * @param string $statement what is done if the row is there: REPLACE or INSERT IGNORE
     */
    public function insert(string $statement, string $network, string $account, int $number, int $until): void
    {
        $sql = "$statement INTO $this->name (id, network, account, $this->number, $this->until) VALUES (%s, %s, %s, %d, %d)";
        $row = [self::id($network, $account), $network, $account, $number, $until];
        if (Database::query($sql, $row) === false) {
            $this->create();
            Database::query($sql, $row);
        }
    }

    public function remove(string $id): void
    {
        Database::query("DELETE FROM $this->name WHERE id = %s", [$id]);
    }

    public function drop(): void
    {
        global $wpdb;
        $wpdb->query("DROP TABLE IF EXISTS $this->name");
    }

    private function create(): void
    {
        global $wpdb;
        Database::quietly(fn () => $wpdb->query("CREATE TABLE IF NOT EXISTS $this->name (
            id CHAR(32) CHARACTER SET ascii NOT NULL PRIMARY KEY,
            network VARCHAR(64) CHARACTER SET ascii NOT NULL,
            account VARCHAR(64) CHARACTER SET ascii NOT NULL,
            $this->number INT UNSIGNED NOT NULL,
            $this->until BIGINT UNSIGNED NOT NULL,
            KEY (network),
            KEY (account),
            KEY ($this->until)
        )"));
    }
}
