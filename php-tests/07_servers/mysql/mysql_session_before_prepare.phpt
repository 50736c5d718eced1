--TEST--
MariaDB and MySQL: a session that has used the legacy schema notices prepare(): check()'s debts are kept
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
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/utils.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$server = new Server(SQL_SERVER);
$legacy = 'DROP TABLE IF EXISTS classic; CREATE TABLE classic (identifier varchar(255) NOT NULL PRIMARY KEY, microtime double NOT NULL) ENGINE=InnoDB';
$dsn = $server->dsn('table=classic');
$prepare = function () use ($dsn): string {
    (new TokenBucket\MysqlStorage($dsn))->prepare();
    return '';
};
foreach (['itself' => $prepare, 'by another' => fn () => in_processes(1, $prepare)] as $by => $prepare_table) {
    $server->sql($legacy);
    $bucket = new TokenBucket($dsn, 'joe', 3, 0.01);
    $bucket->consume();
    $prepare_table();
    times(20, fn () => $bucket->check());
    $debt = fn (): string => $server->sql('SELECT kind, seen = microtime, more > 1e12 FROM classic');
    echo $by, ': ', $debt(), ' ', times(1, fn () => $bucket->consume()), ' ', $debt(), "\n"; // denied: nothing changes
}

// Another process prepares the table and reserves ahead within the second in which the session believes in two columns.
$server->sql($legacy);
$ours = new TokenBucket($dsn, 'jane', 3, 0.01);
$ours->consume(0);
[$theirs] = in_processes(1, function () use ($dsn, $prepare): string {
    $prepare();
    $bucket = new TokenBucket($dsn, 'jane', 3, 0.01);
    $bucket->consume(3);
    $_ = $bucket->reserve(3);
    return (string) round($bucket->peek()->getRetryAfter(), -1);
});
var_dump($ours->consume(), round($ours->peek()->getRetryAfter(), -1), (float) $theirs);
?>
--EXPECT--
itself: 2	1	1 0 2	1	1
by another: 2	1	1 0 2	1	1
bool(false)
float(400)
float(400)
