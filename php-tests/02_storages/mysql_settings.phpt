--TEST--
MariaDB and MySQL: counts are exact whatever the server's settings, and times have no time zone
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/processes.inc';

/** Eight processes with a hundred tries each at a bucket of a hundred, at a window, and at a hundred newcomers. */
function strict_counts(string $dsn, string $name): string
{
    $limiters = [
        fn (int $try) => new TokenBucket($dsn, $name, 100, 0.00001),
        fn (int $try) => new TokenBucket\FixedWindow($dsn, $name, 100, 1e6),
        fn (int $try) => new TokenBucket($dsn, "$name $try", 1, 0.00001),
    ];
    $counts = [];
    foreach ($limiters as $limiter) {
        $counts[] = array_sum(in_processes(8, fn (): int => array_sum(array_map(fn (int $try): bool => $limiter($try)->consume(), range(1, 100)))));
    }
    return implode(', ', $counts);
}

$server = new Server(SQL_SERVER);
$dsn = prepared($server->dsn());
// MySQL knows neither Oracle's mode nor snapshots that others' writes end; its name for the level stands before that of MariaDB.
$is_mysql = SQL_SERVER === 'mysqld';
[$oracle, $level_name] = $is_mysql ? ['ANSI', 'transaction_isolation'] : ['ORACLE', 'tx_isolation'];
$settings = [
    'sql_mode' => "'$oracle,ANSI,NO_BACKSLASH_ESCAPES,TRADITIONAL,HIGH_NOT_PRECEDENCE,NO_ZERO_IN_DATE'",
    'autocommit' => '0',
    'init_connect' => "'SET autocommit = 0, sql_mode = ''$oracle'', time_zone = ''-11:00'', innodb_lock_wait_timeout = 50, sql_safe_updates = 1'",
    $level_name => "'SERIALIZABLE'",
    'innodb_snapshot_isolation' => '1',
    'time_zone' => "'+13:00'",
    'div_precision_increment' => '0',
    'completion_type' => "'RELEASE'",
    'innodb_deadlock_detect' => '0',
    'character_set_server' => "'utf16'",
    'sql_select_limit' => '0',
];
$clock = new TokenBucket($dsn, 'clock', 1, 0.0001);
$clock->consume();
$timeout = 20_000; // another one is another DSN
foreach ($settings as $name => $value) {
    if ($is_mysql && $name === 'innodb_snapshot_isolation') {
        echo "innodb_snapshot_isolation: MySQL has none\n";
        continue;
    }
    $server->sql("SET GLOBAL $name = $value; SELECT 'set'") === 'set' || exit("$name cannot be set");
    // A session that begins with it; the settings before stay. The clock goes on, as for the old one.
    echo $name, ': ', strict_counts($server->dsn("prefix=$name:"), 'x');
    $new = new TokenBucket($server->dsn('timeout_ms=' . $timeout--), 'clock', 1, 0.0001);
    echo $new->consume() ? ', let in' : '', $clock->consume() ? ', let in' : '', "\n";
}
// The client of this test would see nothing of its own, either.
$server->sql('SET GLOBAL sql_select_limit = 18446744073709551615');
foreach (['READ-UNCOMMITTED', 'READ-COMMITTED', 'REPEATABLE-READ'] as $level) {
    $server->sql("SET GLOBAL $level_name = '$level'; SELECT 'set'") === 'set' || exit("$level cannot be set");
    echo "$level: ", strict_counts($server->dsn("prefix=$level:"), 'x'), "\n";
}
// A bucket is when it was emptied, whatever the zone.
$age = (float) $server->sql("SELECT UNIX_TIMESTAMP() - microtime FROM token_bucket WHERE identifier = 'clock'");
echo $age > -1 && $age < 300 ? 'the clock is right' : $age, "\n";

$server = new Server(SQL_SERVER, ['--sysdate-is-now', '--log-bin', '--sync-binlog=0', ...($is_mysql ? [] : ['--binlog-format=STATEMENT'])]);
echo 'sysdate-is-now: ', strict_counts(prepared($server->dsn()), 'x'), "\n";
// A log of statements allows no lower level, which the session therefore sets itself.
$server->sql("SET GLOBAL $level_name = 'READ-COMMITTED'; SET GLOBAL binlog_format = 'STATEMENT'; SELECT 'set'") === 'set' || exit('not set');
echo 'a log of statements: ', strict_counts($server->dsn('prefix=log:'), 'x'), "\n";
?>
--EXPECTF--
sql_mode: 100, 100, 100
autocommit: 100, 100, 100
init_connect: 100, 100, 100
%s_isolation: 100, 100, 100
innodb_snapshot_isolation: %s
time_zone: 100, 100, 100
div_precision_increment: 100, 100, 100
completion_type: 100, 100, 100
innodb_deadlock_detect: 100, 100, 100
character_set_server: 100, 100, 100
sql_select_limit: 100, 100, 100
READ-UNCOMMITTED: 100, 100, 100
READ-COMMITTED: 100, 100, 100
REPEATABLE-READ: 100, 100, 100
the clock is right
sysdate-is-now: 100, 100, 100
a log of statements: 100, 100, 100
