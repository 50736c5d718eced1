--TEST--
MariaDB and MySQL: where the table ignores case, no identifier names the row of a window or of a hash
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

$server = new Server(SQL_SERVER);
$server->sql('CREATE TABLE classic (identifier varchar(255) NOT NULL PRIMARY KEY, microtime double NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8');
$dsn = prepared($server->dsn('table=classic'));
$window = new TokenBucket\FixedWindow($dsn, 'joe', 2, 1000);
echo times(3, fn () => $window->consume()), "\n";
echo times(2, fn () => (new TokenBucket($dsn, 'W:joe', 2, 0.001))->consume()), "\n";
echo times(1, fn () => $window->consume()), "\n";
$hashed = new TokenBucket($dsn, 'a b', 2, 0.001);
echo times(1, fn () => $hashed->consume()), "\n";
echo times(2, fn () => (new TokenBucket($dsn, 'H:' . substr(hash('sha256', 'a b'), 0, 32), 2, 0.001))->consume()), "\n";
echo times(2, fn () => $hashed->consume()), "\n";
?>
--EXPECT--
110
11
0
1
11
10
