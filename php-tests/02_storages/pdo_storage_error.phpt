--TEST--
The PDO storages of the examples: failures are reported and leave no transaction and no lock
--EXTENSIONS--
posix
mysqlnd
mysqli
pdo
pdo_mysql
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/pdo.inc';
require dirname(__DIR__) . '/utils.inc';

$table = 'pdo_' . bin2hex(random_bytes(4));
$databases = databases();
[$mysql, $sqlite] = array_values($databases);
$storages = ['mysql' => new PdoMysqlStorage($mysql, $table), 'sqlite' => new PdoSqliteStorage($sqlite, $table, 50)];
foreach ($storages as $engine => $storage) {
    echo "$engine\n";
    $db = $databases[$engine];
    $other = databases()[$engine];
    $bucket = new TokenBucket($storage, 'x', 10, 1e-6);
    $elsewhere = new TokenBucket(new $storage($other, $table), 'x', 10, 1e-6);
    thrown(
        // There is no table yet.
        fn () => $bucket->consume(),
        fn () => $storage->prepare(),
        // What the closure throws; whatever else it did is undone.
        fn () => $storage->consume('x', 1, 9, function () use ($storage) {
            $storage->bootstrap('x', 1);
            throw new DomainException('from the closure');
        }),
        fn () => records($db, $table),
        // Neither has left anything locked.
        fn () => $elsewhere->consume(4),
        fn () => $bucket->consume(6),
        fn () => $elsewhere->consume(),
        // The application's own transaction stays its own.
        fn () => $db->beginTransaction(),
        fn () => $db->exec("INSERT INTO $table VALUES ('of the application', 1)"),
        fn () => $bucket->consume(),
        fn () => $db->inTransaction(),
        fn () => $db->rollBack(),
        fn () => array_keys(records($db, $table)),
    );
    $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
    thrown(fn () => new $storage($db, $table));
    $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
}

echo "another process makes the record between\n";
$late = mysql();
$calls = 0;
var_dump($storages['mysql']->consume('late', 1, 9, function () use ($storages, $late, $table, &$calls) {
    $calls++;
    $late->exec("INSERT INTO $table VALUES ('late', 1)");
    $storages['mysql']->bootstrap('late', 1);
    return true;
}));
var_dump($calls, records($mysql, $table)['late'] > 1);

echo "a writer that does not end\n";
$writer = databases()['sqlite'];
$writer->exec('BEGIN IMMEDIATE');
thrown(fn () => (new TokenBucket($storages['sqlite'], 'y', 10, 1))->consume());
$writer->exec('ROLLBACK');
thrown(fn () => (new TokenBucket($storages['sqlite'], 'y', 10, 1))->consume());

/** Meets a deadlock in each of its first calls of bootstrap(). */
class Deadlocked extends PdoMysqlStorage
{
    public int $begun = 0;
    private ?mysqli $other = null;

    public function __construct(PDO $db, string $table, public int $deadlocks)
    {
        parent::__construct($db, $table);
    }

    public function bootstrap($identifier, $microtime): void
    {
        parent::bootstrap($identifier, $microtime);
        if ($this->deadlocks-- <= 0) {
            return;
        }
        // The other has done more, so it is this one that the server gives up.
        $server = parse_url(server_dsn('TB_MARIADB'));
        $this->other = new mysqli($server['host'], $server['user'], $server['pass'], ltrim($server['path'], '/'), $server['port']);
        $this->other->begin_transaction();
        $this->other->query("INSERT INTO $this->table SELECT CONCAT('deadlock ', seq), 1 FROM seq_1_to_100");
        $this->other->query("INSERT INTO $this->table VALUES ('$identifier', 1)", MYSQLI_ASYNC); // waits for us
        $this->db->exec("INSERT INTO $this->table VALUES ('deadlock 1', 1)"); // and we for it
    }

    protected function begin(): void
    {
        $this->begun++;
        $this->end_other();
        parent::begin();
    }

    public function end_other(): void
    {
        if ($this->other) {
            $this->other->reap_async_query();
            $this->other->rollback();
            $this->other = null;
        }
    }
}

echo "deadlocks\n";
foreach ([1, 4, 5] as $deadlocks) {
    $storage = new Deadlocked(mysql(), $table, $deadlocks);
    thrown(fn () => (new TokenBucket($storage, "deadlocked $deadlocks", 10, 1))->consume());
    $storage->end_other();
    var_dump($storage->begun, isset(records($mysql, $table)["deadlocked $deadlocks"]));
}

echo "a connection that is killed\n";
$doomed = mysql();
$storage = new PdoMysqlStorage($doomed, $table);
$id = $doomed->query('SELECT CONNECTION_ID()')->fetchColumn();
thrown(
    fn () => $storage->consume('killed', 1, 9, function () use ($storage, $mysql, $id) {
        // Should this record stay, it would be empty for long.
        $storage->bootstrap('killed', 4e9);
        $mysql->exec("KILL $id");
        wait_until(fn () => !$mysql->query("SELECT 1 FROM information_schema.processlist WHERE id = $id")->fetch());
        $storage->bootstrap('more', 1);
        return true;
    }),
);
$bucket = new TokenBucket($storages['mysql'], 'killed', 1, 1e-6);
var_dump($bucket->consume(), $bucket->consume());
$mysql->exec("DROP TABLE $table");
?>
--EXPECTF--
mysql
PDOException: SQLSTATE[42S02]: %s: 1146 %s
NULL
DomainException: from the closure
array(0) {
}
bool(true)
bool(true)
bool(false)
bool(true)
int(1)
PDOException: SQLSTATE[25001]: %s: 1568 %s
bool(true)
bool(true)
array(1) {
  [0]=>
  string(1) "x"
}
InvalidArgumentException: PDO::ATTR_ERRMODE must be PDO::ERRMODE_EXCEPTION
sqlite
PDOException: SQLSTATE[HY000]: %s: 1 no such table%s
NULL
DomainException: from the closure
array(0) {
}
bool(true)
bool(true)
bool(false)
bool(true)
int(1)
PDOException: SQLSTATE[HY000]: %s: 1 %stransaction%s
bool(true)
bool(true)
array(1) {
  [0]=>
  string(1) "x"
}
InvalidArgumentException: PDO::ATTR_ERRMODE must be PDO::ERRMODE_EXCEPTION
another process makes the record between
bool(true)
int(1)
bool(true)
a writer that does not end
PDOException: SQLSTATE[HY000]: %s: 5 %s
bool(true)
deadlocks
bool(true)
int(2)
bool(true)
bool(true)
int(5)
bool(true)
PDOException: SQLSTATE[40001]: %s: 1213 %s
int(5)
bool(false)
a connection that is killed
PDOException: SQLSTATE[HY000]: General error: %s
bool(true)
bool(false)
