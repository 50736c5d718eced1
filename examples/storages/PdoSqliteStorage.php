<?php
/*
 * Buckets in a file of SQLite.
 *
 *     $storage = new PdoSqliteStorage(new PDO('sqlite:/var/lib/shop/limits.db'), 'token_bucket');
 *     $storage->prepare();   // once: makes the table
 *     $bucket = new TokenBucket($storage, $network, 10, 1);
 */
declare(strict_types=1);

require_once __DIR__ . '/PdoStorage.php';

class PdoSqliteStorage extends PdoStorage
{
    /** @param int $patience_ms how long to wait for other processes to write */
    public function __construct(PDO $db, string $table, int $patience_ms = 2_000)
    {
        parent::__construct($db, '"' . str_replace('"', '""', $table) . '"');
        $db->exec("PRAGMA busy_timeout = $patience_ms");
        // With the journal below this loses no more than the last calls, and only if the machine fails.
        $db->exec('PRAGMA synchronous = NORMAL');
    }

    public function prepare(): void
    {
        $this->db->exec('PRAGMA journal_mode = WAL');
        $this->db->exec(<<<SQL
            CREATE TABLE IF NOT EXISTS $this->table (
                identifier TEXT NOT NULL PRIMARY KEY,
                microtime REAL NOT NULL
            ) WITHOUT ROWID
            SQL);
    }

    protected function begin(): void
    {
        // Immediate: a transaction that reads first may have to give up when it writes.
        $this->db->exec('BEGIN IMMEDIATE');
    }

    protected function query(): string
    {
        return "SELECT microtime FROM $this->table WHERE identifier = ?";
    }

    protected function may_try_again(PDOException $e): bool
    {
        // Writers run one after the other; one that has waited for too long gets an error.
        return false;
    }
}
