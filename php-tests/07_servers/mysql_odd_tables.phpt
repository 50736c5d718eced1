--TEST--
MariaDB and MySQL: a row without a time is a bucket like another; a row that cannot be reckoned with is no outage; prepare() tells that a table has no key
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=closed
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/utils.inc';

$server = new Server(SQL_SERVER);
$server->sql('CREATE TABLE nulls (identifier VARCHAR(255) PRIMARY KEY, microtime DOUBLE)');
$dsn = prepared($server->dsn('table=nulls'));
$server->sql("INSERT INTO nulls (identifier) VALUES ('joe')");
$other = new TokenBucket($dsn, 'other', 2, 0.001);
times(2, fn () => $other->check());
// It must not get what the variables still hold of another.
echo times(1, fn () => @(new TokenBucket($dsn, 'joe', 2, 0.001))->consume()), ' ', $server->sql("SELECT COUNT(*) FROM nulls a JOIN nulls b ON a.due = b.due AND a.identifier < b.identifier"), " of another's\n";

$server->sql("INSERT INTO nulls VALUES ('bad', 5, 2, 9223372036854775807, 0, 9223372036854775807, 5)");
@(new TokenBucket($dsn, 'bad', 2, 0.001))->consume();
echo $other->attempt()->isDegraded() ? 'an outage' : 'other rows are not concerned', "\n";

$server->sql('CREATE TABLE keyless (identifier VARCHAR(255) NOT NULL, microtime DOUBLE NOT NULL)');
try {
    prepared($server->dsn('table=keyless'));
    echo 'not a word: ', times(5, fn () => (new TokenBucket($server->dsn('table=keyless'), 'x', 1, 0.001))->consume()), "\n";
} catch (TokenBucket\StorageException) {
    echo "told\n";
}
?>
--EXPECTF--
%d 0 of another's
other rows are not concerned
told
