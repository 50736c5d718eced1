--TEST--
MariaDB and MySQL: while writes wait for a lock and reads are answered, denied clients stay denied and few calls wait
--EXTENSIONS--
pcntl
posix
mysqlnd
pdo
pdo_mysql
--INI--
token_bucket.on_error=open
token_bucket.deny_cache=0
token_bucket.timeout_ms=400
token_bucket.connect_timeout_ms=2000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

// A commit that waits for a replica which is not there is one that waits for room on the disk, too: the client sees no difference.
$server = new Server(SQL_SERVER, SQL_SERVER === 'mariadbd' ? ['--log-bin=binlog', '--server-id=1'] : []);
$dsn = prepared($server->dsn());
$server->sql("GRANT RELOAD ON *.* TO owner@'%'");
$bucket = fn (string $id): TokenBucket => TokenBucket::per($dsn, $id, 1, 3600);
/** What the operator is told of the server. */
function told(Server $server): string
{
    $row = server_row($server->port);
    return ($row['up'] ? 'up' : 'down') . ': ' . $row['last_failure'];
}
foreach (['denied', 'denied too', 'locked'] as $id) {
    $bucket($id)->consume();
}
$session = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
$global = fn (string $name, int $value) => $server->sql("SET GLOBAL rpl_semi_sync_master_$name = $value");
$locks = [
    'FLUSH TABLES WITH READ LOCK' => [fn () => $session->exec('FLUSH TABLES WITH READ LOCK'), fn () => $session->exec('UNLOCK TABLES')],
    'LOCK TABLES ... READ' => [fn () => $session->exec('LOCK TABLES token_bucket READ'), fn () => $session->exec('UNLOCK TABLES')],
    'rows and the gaps between them' => [
        fn () => [$session->beginTransaction(), $session->query('SELECT * FROM token_bucket FOR UPDATE')->fetchAll()],
        fn () => $session->rollBack(),
    ],
    'a commit that waits' => [
        fn () => SQL_SERVER === 'mariadbd' ? [$global('timeout', 600_000), $global('enabled', 1)] : $session->exec('LOCK TABLES token_bucket READ'),
        fn () => SQL_SERVER === 'mariadbd' ? $global('enabled', 0) : $session->exec('UNLOCK TABLES'),
    ],
];
$number = 0;
foreach ($locks as $name => [$lock, $unlock]) {
    $lock();
    [$denied, $new, $waited] = [[], [], 0];
    $said = warnings(function () use ($bucket, $dsn, &$denied, &$new, &$waited, &$number): void {
        for ($i = 0; $i < 40; $i++) {
            foreach (['a', 'b'] as $_) {
                $waited += milliseconds(function () use ($bucket, &$new, &$number): void {
                    $decision = $bucket('new ' . $number++)->attempt();
                    $new[$decision->isAccepted() ? 'accepted' : 'denied'][$decision->isDegraded() ? 'by the policy' : 'by the store'] = true;
                }) > 300;
            }
            foreach (['denied', 'denied too', 'locked'] as $id) {
                $decision = $bucket($id)->attempt();
                $denied[$decision->isAccepted() ? 'accepted' : 'denied'][$decision->isDegraded() ? 'by the policy' : 'by the store'] = true;
            }
            // A denied check is charged: the charge waits, the denial stands.
            $denied[$bucket('denied')->check() ? 'denied' : 'accepted']['check'] = true;
            $both = (new TokenBucket\Compound($bucket('denied'), $bucket('new ' . $number++)))->attempt();
            $denied[$both->isAccepted() ? 'accepted' : 'denied'][$both->isDegraded() ? 'by the policy' : 'by the store'] = true;
        }
    });
    echo "$name\n    clients that are denied: ", json_encode($denied), "\n    new clients: ", json_encode($new), "\n    ",
        $waited < 12 ? 'few calls wait' : "$waited calls wait", "\n    ", told($server), "\n";
    // A further lock within a second is the same outage.
    if ($name === array_key_first($locks)) {
        // Any call may be the second one that waits.
        echo preg_replace('/TokenBucket::\w+\(\)/', 'A call', implode("\n", $said)), "\n";
    }
    $unlock();
    // The next write that is tried closes the breaker.
    wait_until(fn (): bool => !$bucket('later ' . $number++)->attempt()->isDegraded());
}

// The server dies while writes wait: reads find that out.
$session->exec('LOCK TABLES token_bucket READ');
for ($i = 0; $i < 10; $i++) {
    @$bucket('new ' . $number++)->attempt();
}
$server->kill();
wait_until(fn (): bool => @$bucket('denied')->attempt()->isDegraded());
echo "a server that is killed meanwhile is down\n";
?>
--EXPECT--
FLUSH TABLES WITH READ LOCK
    clients that are denied: {"denied":{"by the store":true,"check":true}}
    new clients: {"accepted":{"by the policy":true}}
    few calls wait
    down: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk
A call: MySQL at 127.0.0.1:PORT: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk; every call is accepted
A call: MySQL at 127.0.0.1:PORT: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk; until a write succeeds, every call is accepted
LOCK TABLES ... READ
    clients that are denied: {"denied":{"by the store":true,"check":true}}
    new clients: {"accepted":{"by the policy":true}}
    few calls wait
    down: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk
rows and the gaps between them
    clients that are denied: {"denied":{"by the store":true,"check":true}}
    new clients: {"accepted":{"by the policy":true}}
    few calls wait
    down: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk
a commit that waits
    clients that are denied: {"denied":{"by the store":true,"check":true}}
    new clients: {"accepted":{"by the policy":true}}
    few calls wait
    down: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk
a server that is killed meanwhile is down
