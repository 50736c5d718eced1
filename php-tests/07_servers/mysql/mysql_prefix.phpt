--TEST--
mysql: a token_bucket.prefix without effect gives one warning for each limiter; prefix= in the DSN has an effect
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

$server = new Server(SQL_SERVER);
$dsn = prepared($server->dsn());
$take = fn (string $dsn) => (int) (new TokenBucket($dsn, 'x', 1, 0.001))->consume();
echo $take($dsn), "\n";
ini_set('token_bucket.prefix', 'shop:');
new TokenBucket(with($dsn, 'timeout_ms=4000'), 'x', 1, 0.001); // asks nothing, and warns of nothing
echo $take($dsn), $take($dsn), "\n";
echo $take(with($dsn, 'prefix=shop:')), $take(with($dsn, 'prefix=')), "\n";
echo $server->sql('SELECT GROUP_CONCAT(identifier ORDER BY identifier) FROM token_bucket'), "\n";
?>
--EXPECTF--
1

Warning: TokenBucket::consume(): token_bucket.prefix is not put before the identifiers in a table of MySQL or MariaDB: write prefix= into the storage DSN, with a prefix or with none in %s on line %d
00
10
shop:x,x
