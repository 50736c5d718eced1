<?php
/*
 * Limiters on MariaDB and MySQL: the transaction of the published class on PDO, and symfony's.
 */

use Symfony\Component\Cache\Adapter\PdoAdapter;
use Symfony\Component\Lock\Store\PdoStore;

/** @return Limiter[] */
function mysql_limiters(): array
{
    $limiters = [];
    foreach (['mariadb' => 'MariaDB', 'mysql' => 'MySQL'] as $engine => $name) {
        $store = "$name, unix socket";
        $limiters[] = token_bucket($engine, $store, patient(sql_dsn($engine)));
        $limiters[] = new Limiter("pdo_$engine", 'PDO, a transaction with `SELECT ... FOR UPDATE`', $store, fn (...$limit) => pdo_transaction(pdo($engine), ...$limit));
    }
    $store = 'MariaDB, unix socket';
    return [
        ...$limiters,
        symfony('symfony_pdo', 'PDO, no lock', $store, fn () => [new PdoAdapter(pdo('mariadb', true), 'bench'), null]),
        symfony('symfony_pdo_lock', 'PDO, its PDO lock', $store, fn () => [new PdoAdapter(pdo('mariadb', true), 'bench'), new PdoStore(pdo('mariadb', true))]),
    ];
}

function sql_dsn(string $engine): string
{
    return getenv(['mariadb' => 'TB_MARIADB_UNIX', 'mysql' => 'TB_MYSQL_UNIX'][$engine]);
}

function sql_pid(string $engine): int
{
    return (int) file_get_contents(getenv('TB_SERVERS') . "/$engine.pid");
}

/** Makes their tables, outside the measurement. */
function mysql_tables(): void
{
    foreach (['mariadb', 'mysql'] as $engine) {
        (new TokenBucket\MysqlStorage(patient(sql_dsn($engine))))->prepare();
        pdo($engine)->exec('CREATE TABLE IF NOT EXISTS classic (identifier varchar(255) NOT NULL PRIMARY KEY, microtime double NOT NULL) ENGINE=InnoDB');
    }
    $db = pdo('mariadb');
    foreach (['cache_items' => new PdoAdapter($db), 'lock_keys' => new PdoStore($db)] as $table => $storage) {
        if (!$db->query("SHOW TABLES LIKE '$table'")->fetch()) {
            $storage->createTable();
        }
    }
}

/** With $emulates, PDO's default, a statement takes one round trip rather than two. */
function pdo(string $engine, bool $emulates = false): PDO
{
    $options = [PDO::ATTR_EMULATE_PREPARES => $emulates, PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION];
    return new PDO('mysql:dbname=limits;unix_socket=' . getenv('TB_SERVERS') . "/$engine.sock", 'root', '', $options);
}

/** The commands of the published PDO `TokenBucket`: a transaction with a row lock, statements prepared by the server. */
function pdo_transaction(PDO $db, string $id, int $capacity, float $rate, int $many = 1): Closure
{
    $ids = array_map(fn (int $i): string => "$id $i", range(1, $many));
    foreach ($ids as $id) {
        $db->prepare('INSERT IGNORE INTO classic VALUES (?, 0)')->execute([$id]);
    }
    [$full, $cost] = [$capacity / $rate, 1 / $rate];
    return function (int $n) use ($db, $ids, $many, $full, $cost): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            $id = $ids[$i % $many];
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
