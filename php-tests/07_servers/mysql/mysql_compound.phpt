--TEST--
MariaDB and MySQL: a Compound is one transaction: exact in 10,000 concurrent calls, without a deadlock, and of a killed process all charges count or none
--EXTENSIONS--
pcntl
posix
mysqlnd
pdo
pdo_mysql
--INI--
token_bucket.deny_cache=0
token_bucket.on_error=throw
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';
use TokenBucket\Compound;

$server = new Server(SQL_SERVER);
prepared($server->dsn());
$dsn = $server->dsn('timeout_ms=20000&connect_timeout_ms=20000');
$deadlocks = fn (): int => (int) $server->sql(SQL_SERVER === 'mysqld'
    ? "SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'"
    : "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Innodb_deadlocks'");

// Each process has one of four sets that overlap, in another order each; some rows exist before, some do not.
$capacities = ['a' => 3000, 'b' => 2500, 'c' => 900, 'd' => 1100, 'e' => 5000, 'k' => 9000, 'l' => 9000];
$limiter = fn (string $name): TokenBucket => new TokenBucket($dsn, $name, $capacities[$name], 0.0001);
$limiter('b')->consume(0);
$limiter('d')->peek();
$sets = [['a', 'b', 'c'], ['c', 'b', 'd'], ['d', 'a'], ['e', 'b', 'a']];
$before = $deadlocks();
$logs = at_once(8, fn (int $process): callable => function () use ($process, $limiter, $sets): array {
    $set = $sets[$process % 4];
    $compound = new Compound(...array_map($limiter, $set));
    $charged = array_fill_keys($set, 0);
    for ($call = 0; $call < 1250; $call++) {
        $cost = $call % 3; // a cost of 0 is charged nothing
        foreach ($compound->consume($cost) ? $set : [] as $name) {
            $charged[$name] += $cost;
        }
    }
    return $charged;
});
foreach ($capacities as $name => $capacity) {
    $charged = array_sum(array_column($logs, $name));
    echo $name, $charged + $limiter($name)->peek()->getRemainingTokens() === $capacity ? ': exact' : ": charged $charged of $capacity", "\n";
}
echo 'deadlocks: ', $deadlocks() - $before, "\n";

// Another session has locked a row.
$other = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
$other->beginTransaction();
$other->query("SELECT * FROM token_bucket WHERE identifier = 'e' FOR UPDATE")->fetchAll();
$brief = fn (string $name): TokenBucket => new TokenBucket($server->dsn('timeout_ms=1000'), $name, 5000, 0.0001);
$compound = new Compound($brief('d'), $brief('e'));
$left = $brief('d')->peek()->getRemainingTokens();
try {
    $compound->consume();
} catch (TokenBucket\StorageException $e) {
    echo preg_replace('/:\d+/', ':PORT', $e->getMessage()), "\n";
}
$other->rollBack();
wait_until(function () use ($brief): bool {
    try {
        return $brief('d')->refund(0) ?? true;
    } catch (TokenBucket\StorageException) {
        return false;
    }
});
echo 'd: ', $left - $brief('d')->peek()->getRemainingTokens(), " charged\n";
// The transaction of the call that gave up is over: nothing is locked.
wait_until(function () use ($compound): bool {
    try {
        return $compound->consume(0);
    } catch (TokenBucket\StorageException) {
        return false;
    }
});
echo 'd: ', $left - $brief('d')->peek()->getRemainingTokens(), " charged\n";

// A process that is killed leaves all charges or none.
$torn = 0;
$left_of = fn (string $name): int => $limiter($name)->peek()->getRemainingTokens();
for ($round = 0; $round < 20; $round++) {
    $before = $left_of('k');
    $pid = pcntl_fork();
    if ($pid === 0) {
        $both = new Compound($limiter('k'), $limiter('l'));
        while (true) {
            $both->consume();
        }
    }
    wait_until(fn (): bool => $left_of('k') < $before);
    usleep(300 * $round);
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
    // Waits for the end of its transaction.
    (new Compound($limiter('k'), $limiter('l')))->consume();
    $torn += (int) ($left_of('k') !== $left_of('l'));
}
echo $torn, " of 20 killed processes left a part\n";
?>
--EXPECT--
a: exact
b: exact
c: exact
d: exact
e: exact
k: exact
l: exact
deadlocks: 0
MySQL at 127.0.0.1:PORT: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk
d: 0 charged
d: 0 charged
0 of 20 killed processes left a part
