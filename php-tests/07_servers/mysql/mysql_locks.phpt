--TEST--
MariaDB and MySQL: locked rows and deadlocks are retried within the budget; then the policy answers
--EXTENSIONS--
pcntl
posix
mysqlnd
pdo
pdo_mysql
--INI--
token_bucket.deny_cache=0
token_bucket.on_error=closed
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$server = new Server(SQL_SERVER);
prepared($server->dsn());
$brief = new TokenBucket($server->dsn(), 'x', 10, 0.0001);
$patient = new TokenBucket($server->dsn('timeout_ms=20000&connect_timeout_ms=20000'), 'x', 10, 0.0001);
$left = fn (): int => $patient->peek()->getRemainingTokens();
$patient->consume();
wait_until_back($brief);

// Locked for longer than a call may take.
$other = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
$other->beginTransaction();
$other->query("SELECT * FROM token_bucket WHERE identifier = 'x' FOR UPDATE")->fetchAll();
$said = warnings(function () use ($brief): void {
    // 50 ms for the call, 100 more had it to connect; and what the machine adds.
    [$took, $told] = within_three_tries(400, function () use ($brief): array {
        return [milliseconds(function () use ($brief, &$decision): void {
            $decision = $brief->attempt();
        }), ($decision->isAccepted() ? 'yes' : 'no') . ', ' . ($decision->isDegraded() ? 'degraded' : 'by the store')];
    });
    echo "locked: $told\n", $took <= 400 ? 'within the budget' : $took, "\n";
});
// A call that does not know the row reads it before it writes, as on a busy machine, where what the last one has written is forgotten.
echo preg_replace('/(?<=PORT: )(the write was not done in time|reads are answered, but the write waits).*(?=; every)/', 'the write waits', implode("\n", $said)), "\n";
// Who waited in the server's place has given up when its second is over: nothing is charged.
$status = fn (string $name): int => (int) explode("\t", $server->sql("SHOW GLOBAL STATUS LIKE '$name'"))[1];
wait_until(fn (): bool => $status('Innodb_row_lock_current_waits') === 0);
// With more than a second the server gives up first, once or twice: that is no rival that was faster.
// (It throws, for a warning would not be repeated below.)
$by_store = function (string $identifier, string $options) use ($server): string {
    try {
        return (new TokenBucket($server->dsn("$options&connect_timeout_ms=5000&on_error=throw"), $identifier, 10, 0.0001))->consume() ? 'yes' : 'no';
    } catch (TokenBucket\StorageException) {
        return 'no answer';
    }
};
echo 'locked for long: ', $by_store('x', 'timeout_ms=2250'), "\n";
$other->commit();
// On MySQL this host leaves the row alone for a second.
$throws = new TokenBucket($server->dsn('on_error=throw'), 'x', 10, 0.0001);
wait_until(function () use ($throws): bool {
    try {
        $throws->refund(0);
        return true;
    } catch (TokenBucket\StorageException) {
        return false;
    }
});
echo $left(), ' left; ', $patient->consume() ? 'yes' : 'no', ', ', $left(), " left\n";

// Locked for less than a call may take, though for longer than the server waits at a time.
$pid = pcntl_fork();
if ($pid === 0) {
    $holder = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
    $holder->beginTransaction();
    $holder->query("SELECT * FROM token_bucket WHERE identifier = 'x' FOR UPDATE")->fetchAll();
    $before = $status('Innodb_row_lock_waits');
    touch("$server->folder/locked");
    wait_until(fn (): bool => $status('Innodb_row_lock_waits') >= $before + 2); // it was told to try again, and did
    $holder->commit();
    posix_kill(posix_getpid(), SIGKILL);
}
wait_until(fn (): bool => file_exists("$server->folder/locked"));
print_r(warnings(function () use ($patient): void {
    $decision = $patient->attempt();
    echo 'locked a while: ', $decision->isAccepted() ? 'yes' : 'no', ', ', $decision->isDegraded() ? 'degraded' : 'by the store', "\n";
}));
pcntl_waitpid($pid, $ended);
echo $left(), " left\n";

// A locked table is no server that is down.
$locker = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
$locker->exec('LOCK TABLES token_bucket WRITE');
echo 'table locked: ', $by_store('y', 'timeout_ms=1500');
$locker->exec('UNLOCK TABLES');
echo ', then: ', $by_store('z', 'timeout_ms=1500'), "\n";

// As many deadlocks as there are left in `trouble`.
$server->sql("CREATE TABLE trouble (n INT) ENGINE=MyISAM; INSERT INTO trouble VALUES (0);
DELIMITER //
CREATE TRIGGER deadlock BEFORE UPDATE ON token_bucket FOR EACH ROW BEGIN
    IF (SELECT n FROM trouble) > 0 THEN
        UPDATE trouble SET n = n - 1;
        SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found';
    END IF;
END//");
foreach ([3, 1000] as $deadlocks) {
    $server->sql("UPDATE trouble SET n = $deadlocks");
    echo implode("\n", warnings(function () use ($patient): void {
        $decision = $patient->attempt();
        echo 'attempt: ', $decision->isAccepted() ? 'yes' : 'no', ', ', $decision->isDegraded() ? 'degraded' : 'by the store', "\n";
        $patient->refund();
    })), "\n";
    $tries = $deadlocks - (int) $server->sql('SELECT n FROM trouble');
    // Each call ends after 64 tries, or when its time is over.
    echo $tries < 20 ? $tries : 'many', " deadlocks\n";
    // Other buckets are not concerned: that is no outage.
    echo (new TokenBucket($server->dsn('timeout_ms=20000&connect_timeout_ms=20000'), "another $deadlocks", 1, 1))->attempt()->isDegraded() ? "degraded\n" : "another: by the store\n";
}
$server->sql('DROP TRIGGER deadlock');
echo $patient->attempt()->isDegraded() ? 'degraded' : 'by the store', ', ', $left(), " left\n";

// A locked row does not use up the server's sessions: one that waits for the lock stays there after its client has given up.
$other = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
$other->beginTransaction();
$other->query("SELECT * FROM token_bucket WHERE identifier = 'x' FOR UPDATE")->fetchAll();
$most = in_processes(11, function (int $process) use ($server): int {
    $end = hrtime(true) + 1.5e9;
    $most = 0;
    if ($process === 10) {
        while (hrtime(true) < $end) {
            $most = max($most, (int) $server->sql("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'owner'"));
        }
        return $most;
    }
    $bucket = new TokenBucket($server->dsn(), 'x', 10, 0.0001);
    while (hrtime(true) < $end) {
        @$bucket->attempt();
    }
    return 0;
});
$other->rollBack();
echo max($most) <= 2 * 10 + 5 ? 'few sessions' : max($most) . ' sessions', "\n";
?>
--EXPECT--
locked: no, degraded
within the budget
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: the write waits; every call is denied
locked for long: no answer
9 left; yes, 8 left
locked a while: yes, by the store
Array
(
)
7 left
table locked: no answer, then: yes
attempt: yes, by the store

3 deadlocks
another: by the store
attempt: no, degraded
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: the bucket is too busy; every call is denied
many deadlocks
another: by the store
by the store, 6 left
few sessions
