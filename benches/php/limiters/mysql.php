<?php
/*
 * Limiters on MariaDB: the transaction of the classic class on PDO, and symfony's.
 */

use Symfony\Component\Cache\Adapter\PdoAdapter;
use Symfony\Component\Lock\Store\PdoStore;

/** @return Limiter[] */
function mysql_limiters(): array
{
    $store = 'MariaDB, unix socket';
    return [
        token_bucket('mysql', $store, patient(getenv('TB_MYSQL_UNIX'))),
        new Limiter('pdo', 'PDO, a transaction with `SELECT ... FOR UPDATE`', $store, pdo_transaction(...)),
        symfony('symfony_pdo', 'PDO, no lock', $store, fn () => [new PdoAdapter(pdo(), 'bench'), null]),
        symfony('symfony_pdo_lock', 'PDO, its PDO lock', $store, fn () => [new PdoAdapter(pdo(), 'bench'), new PdoStore(pdo())]),
    ];
}

/** Makes their tables, which is no part of a decision. */
function mysql_tables(): void
{
    (new TokenBucket\MysqlStorage(patient(getenv('TB_MYSQL_UNIX'))))->prepare();
    $db = pdo();
    $db->exec('CREATE TABLE IF NOT EXISTS classic (identifier varchar(255) NOT NULL PRIMARY KEY, microtime double NOT NULL) ENGINE=InnoDB');
    foreach (['cache_items' => new PdoAdapter($db), 'lock_keys' => new PdoStore($db)] as $table => $storage) {
        if (!$db->query("SHOW TABLES LIKE '$table'")->fetch()) {
            $storage->createTable();
        }
    }
}

function pdo(): PDO
{
    $options = [PDO::ATTR_EMULATE_PREPARES => false, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
    return new PDO('mysql:dbname=limits;unix_socket=' . getenv('TB_SERVERS') . '/mysql.sock', 'root', '', $options);
}

/** The commands of the PDO `TokenBucket` as it was published: a transaction with a row lock, statements prepared by the server. */
function pdo_transaction(string $id, int $capacity, float $rate): Closure
{
    $db = pdo();
    $db->prepare('INSERT IGNORE INTO classic VALUES (?, 0)')->execute([$id]);
    [$full, $cost] = [$capacity / $rate, 1 / $rate];
    return function (int $n) use ($db, $id, $full, $cost): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            $db->beginTransaction();
            $query = $db->prepare('SELECT * FROM classic WHERE identifier = :id FOR UPDATE');
            $query->execute([':id' => $id]);
            $now = microtime(true);
            $available = min($now - $query->fetch(PDO::FETCH_ASSOC)['microtime'], $full);
            if ($available < $cost) {
                $db->rollBack();
                continue;
            }
            $query = $db->prepare('UPDATE classic SET microtime = :time WHERE identifier = :id');
            $query->execute([':time' => $now - $available + $cost, ':id' => $id]);
            $db->commit();
            $accepted++;
        }
        return $accepted;
    };
}
