--TEST--
php-fpm: a pool may have its own prefix or storage
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$one = ['pm.max_children' => '1'];
$fpm = new Fpm([
    'first' => $one,
    'second' => $one,
    'prefix' => $one + ['php_admin_value[token_bucket.prefix]' => 'mine:'],
    'storage' => $one + ['php_admin_value[token_bucket.storage]' => 'shm:mine'],
    'value' => $one + ['php_value[token_bucket.storage]' => 'shm:mine'],
    'memory' => $one + ['php_admin_value[token_bucket.storage]' => 'array:'],
]);
$fpm->script('bucket.php', file_get_contents(__DIR__ . '/bucket.inc'));

foreach (['first', 'second', 'prefix', 'storage', 'value', 'memory', 'memory', 'first'] as $pool) {
    $get = ['id' => 'pools', 'capacity' => 5, 'tries' => 1];
    echo $pool, ': left ', $fpm->request($pool, 'bucket.php', $get)->json()['left'], "\n";
}
foreach (glob("$fpm->tables/*/*") as $table) {
    echo basename($table), "\n";
}
?>
--EXPECT--
first: left 4
second: left 3
prefix: left 4
storage: left 4
value: left 3
memory: left 4
memory: left 3
first: left 2
default.v13
mine.v13
