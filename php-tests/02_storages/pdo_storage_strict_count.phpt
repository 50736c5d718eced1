--TEST--
The PDO storages of the examples: 8 processes at once on a new bucket get exactly its capacity, in each of 6 rounds
--EXTENSIONS--
pcntl
posix
mysqlnd
pdo
pdo_mysql
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/pdo.inc';
require dirname(__DIR__) . '/processes.inc';

$table = 'pdo_' . bin2hex(random_bytes(4));
foreach (array_keys(storages($table)) as $engine) {
    $wrong = 0;
    for ($round = 0; $round < 6; $round++) {
        $counts = in_processes(8, function () use ($engine, $table, $round) {
            $bucket = new TokenBucket(storages($table)[$engine], "client $round", 100, 0.00001);
            $accepted = 0;
            for ($try = 0; $try < 20; $try++) {
                $accepted += (int) $bucket->consume();
            }
            return $accepted;
        });
        if (array_sum($counts) !== 100) {
            $wrong++;
            echo "$engine, round $round: ", implode(' + ', $counts), "\n";
        }
    }
    echo "$engine: $wrong rounds wrong\n";
}
mysql()->exec("DROP TABLE $table");
?>
--EXPECT--
mysql: 0 rounds wrong
sqlite: 0 rounds wrong
