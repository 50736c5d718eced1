--TEST--
MariaDB and MySQL: a read-only or full server, a missing table or right are reported once and affect no other table
--EXTENSIONS--
pcntl
posix
mysqlnd
pdo
pdo_mysql
--INI--
token_bucket.on_error=closed
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

$server = new Server(SQL_SERVER);
prepared($server->dsn());
$bucket = new TokenBucket($server->dsn(), 'x', 100, 0.0001);

/** What a bucket says, three times, and what is warned of meanwhile. */
function told(TokenBucket $bucket, callable ...$others): void
{
    $said = warnings(function () use ($bucket, $others): void {
        foreach ([1, 2, 3] as $time) {
            $decision = $bucket->attempt();
            echo $decision->isAccepted() ? 'yes' : 'no', $decision->isDegraded() ? ', degraded; ' : '; ';
        }
        echo "\n";
        foreach ($others as $other) {
            echo $other(), "\n";
        }
    });
    echo implode("\n", $said), "\n";
}

echo "read only\n";
$server->sql('SET GLOBAL read_only = 1');
told($bucket);
$server->sql('SET GLOBAL read_only = 0');
wait_until(fn (): bool => !@$bucket->attempt()->isDegraded());
told($bucket);

echo "too many connections\n";
$server->sql('SET GLOBAL max_connections = 10');
$held = [];
try {
    while (count($held) < 100) {
        $held[] = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
    }
} catch (PDOException $e) {
    echo $e->getMessage(), "\n";
}
told(new TokenBucket($server->dsn('prefix=new:', 'writer:s3cret'), 'x', 100, 0.0001),
    // Who has a connection keeps it.
    fn (): string => $bucket->attempt()->isDegraded() ? 'degraded' : 'by the store');
$held = [];
$server->sql('SET GLOBAL max_connections = 100');
wait_until_back(new TokenBucket($server->dsn('prefix=new:', 'writer:s3cret'), 'x', 100, 0.0001));

$good = fn (): string => $bucket->attempt()->isDegraded() ? 'degraded' : 'the other table: by the store';
$same = fn (string $dsn): callable => fn (): string => (new TokenBucket($dsn, 'x', 5, 1))->attempt()->isDegraded() ? 'x: degraded' : 'x: by the store';

echo "no table\n";
told(new TokenBucket($server->dsn('table=missing'), 'x', 100, 0.0001), $good);
prepared($server->dsn('table=missing'));
told(new TokenBucket($server->dsn('table=missing'), 'x', 100, 0.0001));

echo "no right\n";
$server->add_user('reader', rights: 'SELECT');
$server->add_user('blind', rights: 'INSERT, UPDATE');
$reader = new TokenBucket($server->dsn('', 'reader:s3cret'), 'x', 100, 0.0001);
told($reader, $good, fn (): string => $reader->peek()->isDegraded() ? 'degraded' : 'it may look');
told(new TokenBucket($server->dsn('', 'blind:s3cret'), 'x', 100, 0.0001), $good);
$server->sql("GRANT INSERT, UPDATE ON limits.token_bucket TO reader@'%'");
told($reader);

echo "no room\n";
$server->sql('CREATE TABLE narrow (identifier VARCHAR(20) PRIMARY KEY, microtime DOUBLE NOT NULL)');
foreach (['classic', 'prepared'] as $when) {
    told(new TokenBucket($server->dsn("table=narrow&prefix=$when:"), str_repeat('x', 30), 100, 0.0001), $good,
        $same($server->dsn("table=narrow&prefix=$when:")));
    prepared($server->dsn('table=narrow'));
}

echo "not a table of ours\n";
$server->sql('CREATE TABLE strange (id INT PRIMARY KEY, name TEXT)');
told(new TokenBucket($server->dsn('table=strange'), 'x', 100, 0.0001), $good);
?>
--EXPECTF--
read only
no, degraded; no, degraded; no, degraded; 
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: it refuses writes: The %s server is running with the --read-only option so it cannot execute this statement; until a server accepts writes, every call is denied
yes; yes; yes; 

too many connections
SQLSTATE[HY000] [1040] %s
no, degraded; no, degraded; no, degraded; 
by the store
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: Too many connections; until this process can ask it, every call is denied
no table
no, degraded; no, degraded; no, degraded; 
the other table: by the store
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: Table 'limits.missing' doesn't exist; prepare() makes `missing`, as a user with the right to create it; its statement is in docs/stores.md, "MariaDB and MySQL"; every call is denied
yes; yes; yes; 

no right
no, degraded; no, degraded; no, degraded; 
the other table: by the store
it may look
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: UPDATE command denied to user 'reader'@'localhost' for table %stoken_bucket%s; the user "reader" needs SELECT, INSERT and UPDATE on `token_bucket`; every call is denied
no, degraded; no, degraded; no, degraded; 
the other table: by the store
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: SELECT command denied to user 'blind'@'localhost' for %stoken_bucket%s; the user "blind" needs SELECT, INSERT and UPDATE on `token_bucket`; every call is denied
yes; yes; yes; 

no room
no, degraded; no, degraded; no, degraded; 
the other table: by the store
x: by the store
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: Data too long for column 'identifier' at row 1; the column `identifier` must take 255 characters of ASCII; every call is denied
no, degraded; no, degraded; no, degraded; 
the other table: by the store
x: by the store

not a table of ours
no, degraded; no, degraded; no, degraded; 
the other table: by the store
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: Unknown column 'identifier' in '%s'; prepare() adds the columns to `strange`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"; every call is denied
