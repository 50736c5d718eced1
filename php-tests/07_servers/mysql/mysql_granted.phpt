--TEST--
MariaDB and MySQL: a right granted to the database later takes effect without a restart
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=closed
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

$server = new Server(SQL_SERVER);
prepared($server->dsn());
$server->add_user('reader', rights: 'SELECT');
$bucket = new TokenBucket($server->dsn('', 'reader:s3cret'), 'x', 10, 0.001);
echo @$bucket->attempt()->isDegraded() ? 'refused' : '?', "\n";
$server->sql("GRANT INSERT, UPDATE ON limits.* TO reader@'%'");
// The first call may have to find out that its session is old.
@$bucket->attempt();
echo $bucket->attempt()->isDegraded() ? 'still refused' : 'by the store', "\n";
?>
--EXPECT--
refused
by the store
