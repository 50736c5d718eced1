--TEST--
MariaDB and MySQL: a block needs the columns that prepare() adds
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/utils.inc';

$server = new Server(SQL_SERVER);
$server->sql('CREATE TABLE classic (identifier varchar(255) NOT NULL PRIMARY KEY, microtime double NOT NULL) ENGINE=InnoDB');
$dsn = $server->dsn('table=classic');
$bucket = TokenBucket::per($dsn, 'x', 5, 300);
thrown(
    fn () => $bucket->attempt(2)->refund(),
    fn () => $bucket->check(),
    fn () => $bucket->block(60),
    fn () => $bucket->consume(),
);
(new TokenBucket\MysqlStorage($dsn))->prepare();
$bucket->block(60);
var_dump($bucket->consume(), $bucket->attempt()->getRetryAfterSeconds());
$bucket->reset();
var_dump($bucket->consume(5), $bucket->consume());
?>
--EXPECTF--
bool(true)
TokenBucket\StorageException: %s at 127.0.0.1:%d: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: %s at 127.0.0.1:%d: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
bool(true)
bool(false)
int(60)
bool(true)
bool(false)
