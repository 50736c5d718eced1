--TEST--
Servers: no warning and no log line shows a password, plain or percent-encoded
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=fallback
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
log_errors=1
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

const PASSWORD = 'hunter2@s3cret/%41';
const ENCODED = '%68unter2%40s3cret%2F%2541';

ini_set('error_log', $log = tempnam(sys_get_temp_dir(), 'log'));

/** Prints what is logged while $work runs, and whether that or what is shown has some of the password. */
function logged(string $what, callable $work): void
{
    global $log;
    file_put_contents($log, '');
    ob_start();
    $work();
    $shown = ob_get_clean();
    $logged = file_get_contents($log);
    echo $what, ': ', preg_match('/unter2|s3cret|%68|%2F|%41/i', $shown . $logged) ? 'LEAK ' : '',
        preg_replace(['/^\[.*?\] PHP Warning: +[\w:]+\(\): /m', '/(; until .* memory)? in \S+ on line \d+$/m', '/:\d{4,5}\b/', '~/\S*/token_bucket-server\.\w+~'], ['', '', ':PORT', '/SERVER'], $logged) ?: "nothing\n";
}

function consume(string $what, string $dsn): void
{
    logged($what, fn () => (new TokenBucket($dsn, 'x', 9, 1))->consume());
}

$who = 'joe:' . ENCODED;
$servers = getenv('TB_SERVERS') ?: give_up('run scripts/servers.sh');

// Up, and the password is wrong by a letter, or nobody wants it. A breaker knows no password: each has a database of its own.
$port = free_port();
$redis = new Server('redis', ['--requirepass', PASSWORD, '--tls-port', $port, '--tls-ca-cert-file', "$servers/ca.pem", '--tls-cert-file', "$servers/server.pem",
    '--tls-key-file', "$servers/server.key"]);
consume('Redis, right', 'redis://:' . ENCODED . "@127.0.0.1:$redis->port");
consume('Redis, wrong', 'redis://:' . ENCODED . "x@127.0.0.1:$redis->port/1");
consume('Redis, unknown user', "redis://$who@127.0.0.1:$redis->port/2");
consume('Redis, TLS', "rediss://$who@127.0.0.1:$port?ca=$servers/other-ca.pem");
$open = new Server('redis');
consume('Redis, no password', 'redis://:' . ENCODED . "@127.0.0.1:$open->port");
$without = new Server('redis', ['--rename-command', 'AUTH', 'NOAUTH']); // it quotes what it was sent
consume('Redis, no AUTH', "redis://$who@127.0.0.1:$without->port");
file_put_contents("$open->folder/sentinel.conf", "sentinel monitor main 127.0.0.1 $open->port 1\n");
$sentinel = new Server('sentinel', ["$open->folder/sentinel.conf"]);
consume('sentinel, no password', "redis+sentinel://127.0.0.1:$sentinel->port/main?sentinel_password=" . ENCODED);
consume('sentinel, its master', 'redis+sentinel://:' . ENCODED . "@127.0.0.1:$sentinel->port/main");
$mysql = new Server('mariadbd');
prepared($mysql->dsn());
$mysql->sql("GRANT ALL ON limits.* TO joe@'%' IDENTIFIED BY '" . PASSWORD . "'");
consume('MariaDB, right', $mysql->dsn('', $who));
consume('MariaDB, wrong', $mysql->dsn('table=t', $who . 'x'));
consume('MariaDB, wrong, socket', "mysql+unix://{$who}x@$mysql->folder/socket?db=limits");
consume('MariaDB, no such database', "mysql://$who@127.0.0.1:$mysql->port/others");

// Down.
$redis->kill();
$mysql->kill();
consume('Redis', "redis://$who@127.0.0.1:$redis->port/3");
consume('Redis, cluster', "redis+cluster://$who@127.0.0.1:$redis->port");
consume('Redis, sentinel', "redis+sentinel://$who@127.0.0.1:$redis->port/main?sentinel_password=" . ENCODED);
consume('Redis, socket', "redis+unix://$who@$redis->folder/socket");
consume('MariaDB', $mysql->dsn('table=u', $who));
consume('MariaDB, socket', "mysql+unix://$who@$mysql->folder/socket?db=limits&table=u");

// What is no DSN.
foreach (["redis://$who@host:port", 'redis://joe:hunter2?s3cret@host', "redos://$who@host"] as $dsn) {
    logged('ini_set()', fn () => ini_set('token_bucket.storage', $dsn));
}
?>
--EXPECTF--
Redis, right: nothing
Redis, wrong: Redis at 127.0.0.1:PORT: WRONGPASS invalid username-password pair or user is disabled
Redis, unknown user: Redis at 127.0.0.1:PORT: WRONGPASS invalid username-password pair or user is disabled
Redis, TLS: Redis at 127.0.0.1:PORT: cannot connect: TLS: its certificate is not signed by an authority that is trusted here; ca= in the storage DSN names an authority to trust
Redis, no password: Redis at 127.0.0.1:PORT: ERR there is no password to this server; take it out of the storage DSN
Redis, no AUTH: Redis at 127.0.0.1:PORT: ERR it does not take the password
sentinel, no password: Redis at 127.0.0.1:PORT: ERR there is no password to this server; take it out of the storage DSN
sentinel, its master: Redis at 127.0.0.1:PORT: ERR there is no password to this server; take it out of the storage DSN
MariaDB, right: nothing
MariaDB, wrong: MySQL at 127.0.0.1:PORT: Access denied for user 'joe'@'localhost' (using password: YES) (error 1045)
MariaDB, wrong, socket: MySQL at /SERVER/socket: Access denied for user 'joe'@'localhost' (using password: YES) (error 1045)
MariaDB, no such database: MySQL at 127.0.0.1:PORT: Access denied for user 'joe'@'%' to database 'others' (error 1044)
Redis: Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111)
Redis, cluster: Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111)
Redis, sentinel: Redis at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111)
Redis, socket: Redis at /SERVER/socket: cannot connect: No such file or directory (os error 2)
MariaDB: MySQL at 127.0.0.1:PORT: cannot connect: Connection refused (os error 111)
MariaDB, socket: MySQL at /SERVER/socket: cannot connect: No such file or directory (os error 2)
ini_set(): token_bucket.storage must be a storage DSN (The port in the storage DSN must be between 1 and 65535); "shm:" stays in force
ini_set(): token_bucket.storage must be a storage DSN (The user, password and parameters in the storage DSN must be percent-encoded: "?" is %3F, "@" is %40); "shm:" stays in force
ini_set(): token_bucket.storage must be a storage DSN (Unknown scheme "redos:" in the storage DSN, known are shm:, %s); "shm:" stays in force
