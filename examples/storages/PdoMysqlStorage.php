<?php
/*
 * Buckets in a table of MariaDB or MySQL.
 *
 *     $storage = new PdoMysqlStorage(new PDO('mysql:host=localhost;dbname=shop', $user, $password), 'token_bucket');
 *     $storage->prepare();   // once: makes the table
 *     $bucket = new TokenBucket($storage, $network, 10, 1);
 */
declare(strict_types=1);

require_once __DIR__ . '/PdoStorage.php';

class PdoMysqlStorage extends PdoStorage
{
    private const DUPLICATE = 1062;
    private const DEADLOCK = 1213;

    public function __construct(PDO $db, string $table)
    {
        parent::__construct($db, '`' . str_replace('`', '``', $table) . '`');
    }

    public function prepare(): void
    {
        $this->db->exec(<<<SQL
            CREATE TABLE IF NOT EXISTS $this->table (
                identifier varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
                microtime double NOT NULL
            ) ENGINE=InnoDB
            SQL);
    }

    protected function begin(): void
    {
        // At the usual level two processes that look for a record in vain lock the gap where it would
        // be against each other. This level locks no gaps; it is that of the next transaction alone,
        // and is refused within one.
        $this->db->exec('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
        $this->db->exec('START TRANSACTION');
    }

    protected function query(): string
    {
        return "SELECT microtime FROM $this->table WHERE identifier = ? FOR UPDATE";
    }

    protected function may_try_again(PDOException $e): bool
    {
        // A duplicate is a record that another process has made since it was looked for.
        return in_array($e->errorInfo[1] ?? null, [self::DUPLICATE, self::DEADLOCK], true);
    }
}
