--TEST--
Servers: a process with an old password is refused, and opens no breaker for those with the right one
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

function told(string $what, string $dsn): void
{
    try {
        $accepted = (new TokenBucket($dsn, 'x', 9, 1))->attempt()->isAccepted();
        echo $what, $accepted ? ": let in\n" : ": denied\n";
    } catch (TokenBucket\StorageException $e) {
        echo $what, ': ', preg_replace(['/:\d{4,5}/', '/in \d\.\d s/'], [':PORT', 'in SECONDS'], $e->getMessage()), "\n";
    }
}

$redis = new Server('redis', ['--requirepass', 's3cret']);
$mysql = new Server('mariadbd');
prepared($mysql->dsn());
foreach (['Redis' => fn ($password) => "redis://:$password@127.0.0.1:$redis->port", 'MariaDB' => fn ($password) => $mysql->dsn('', "owner:$password")] as $store => $dsn) {
    echo "$store\n";
    told('right', $dsn('s3cret'));
    told('old', $dsn('hunter2'));
    told('old', $dsn('hunter2'));
    told('right', $dsn('s3cret'));
}
?>
--EXPECT--
Redis
right: let in
old: Redis at 127.0.0.1:PORT: WRONGPASS invalid username-password pair or user is disabled
old: Redis at 127.0.0.1:PORT failed a moment ago; it will be asked again in SECONDS
right: let in
MariaDB
right: let in
old: MySQL at 127.0.0.1:PORT: Access denied for user 'owner'@'localhost' (using password: YES) (error 1045)
old: MySQL at 127.0.0.1:PORT failed a moment ago; it will be asked again in SECONDS
right: let in
