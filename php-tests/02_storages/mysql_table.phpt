--TEST--
MariaDB and MySQL: the legacy schema works without prepare() and names what it lacks; after prepare() everything works; legacy code shares the rows
--EXTENSIONS--
pcntl
posix
mysqlnd
pdo
pdo_mysql
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/utils.inc';
require dirname(__DIR__) . '/processes.inc';

ob_start(fn (string $printed): string => preg_replace('/127\.0\.0\.1:\d+/', '127.0.0.1:PORT', $printed));
$server = new Server(SQL_SERVER);

/** The classic code: what a row says of a bucket is when it was empty, by the clock of who asks. */
function classic_consume(PDO $pdo, string $identifier, int $tokens, int $capacity, float $rate): bool
{
    $pdo->beginTransaction();
    $select = $pdo->prepare('SELECT microtime FROM classic WHERE identifier = ? FOR UPDATE');
    $select->execute([$identifier]);
    $now = microtime(true);
    $empty_at = $select->fetchColumn();
    if ($empty_at === false) {
        $pdo->prepare('INSERT INTO classic (identifier, microtime) VALUES (?, ?)')->execute([$identifier, $empty_at = $now - $capacity / $rate]);
    }
    $empty_at = max($empty_at, $now - $capacity / $rate) + $tokens / $rate;
    $accepted = $empty_at <= $now + 0.0001;
    if ($accepted) {
        $pdo->prepare('UPDATE classic SET microtime = ? WHERE identifier = ?')->execute([$empty_at, $identifier]);
    }
    $pdo->commit();
    return $accepted;
}

$pdo = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret');
$pdo->exec('CREATE TABLE classic (identifier varchar(255) NOT NULL, microtime double NOT NULL, PRIMARY KEY (identifier)) ENGINE=InnoDB DEFAULT CHARSET=utf8');
$dsn = $server->dsn('table=classic', 'writer:s3cret');
$bucket = function (string $identifier, int $capacity = 10, float $rate = 0.001) use (&$dsn): TokenBucket {
    return new TokenBucket($dsn, $identifier, $capacity, $rate);
};

foreach (['before prepare()', 'after'] as $i => $when) {
    echo "$when\n";
    // A row that was there: seven of ten are left.
    $pdo->prepare('INSERT INTO classic (identifier, microtime) VALUES (?, ?)')->execute(["old-$i", microtime(true) - 7000.5]);
    echo $bucket("old-$i")->peek()->getRemainingTokens(), ' left: ', times(8, fn () => $bucket("old-$i")->consume()), "\n";
    // One after the other, on a row of each one's making.
    echo times(11, fn () => classic_consume($pdo, "his-$i", 1, 10, 0.001)), ' ', times(1, fn () => $bucket("his-$i")->consume()), "\n";
    foreach (["first-his-$i" => 0, "first-ours-$i" => 1] as $identifier => $turn) {
        echo times(12, function () use (&$turn, $pdo, $identifier, $bucket): bool {
            return $turn++ % 2 === 0 ? classic_consume($pdo, $identifier, 1, 10, 0.001) : $bucket($identifier)->consume();
        }), ' ', $bucket($identifier)->peek()->getRemainingTokens(), "\n";
    }
    // Each sees at once what the other took, however much; and what came back meanwhile.
    $shared = $bucket("shared-$i", 100, 0.01);
    $answers = [];
    $left = 100;
    foreach ([7, 1, 13, 2, 30, 40, 5, 3, 7, 1] as $turn => $tokens) {
        $answers[] = (int) ($turn % 2 === 0 ? classic_consume($pdo, "shared-$i", $tokens, 100, 0.01) : $shared->consume($tokens));
        $left -= end($answers) * $tokens;
        if ($shared->peek()->getRemainingTokens() !== $left) {
            echo "{$shared->peek()->getRemainingTokens()} in the place of $left\n";
        }
    }
    echo implode($answers), ", $left left\n";
    $shared->refund(50);
    echo $shared->peek()->getRemainingTokens(), ' ', times(1, fn () => classic_consume($pdo, "shared-$i", $left + 51, 100, 0.01)), times(1, fn () => classic_consume($pdo, "shared-$i", $left + 50, 100, 0.01)), "\n";
    $shared->reset();
    echo times(1, fn () => classic_consume($pdo, "shared-$i", 100, 100, 0.01)), $shared->peek()->getRemainingTokens(), "\n";
    // Both at once: exactly as many as there are. Classic code does not lock a row that is not there.
    $pdo->exec("INSERT INTO classic (identifier, microtime) VALUES ('both-$i', 0)");
    $accepted = in_processes(8, function (int $process) use ($server, $bucket, $i): int {
        $pdo = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'writer', 's3cret');
        $take = $process % 2 === 0 ? fn (): bool => classic_consume($pdo, "both-$i", 1, 100, 0.00001) : fn (): bool => $bucket("both-$i", 100, 0.00001)->consume();
        return array_sum(array_map($take, range(1, 100)));
    });
    echo array_sum($accepted), ' of 800', "\n";
    // For longer than a session believes that a table has but two columns: no call fails.
    $busy = $bucket("busy-$i", 1_000_000, 0.01);
    for ($calls = 0, $end = hrtime(true) + 2.2e9; hrtime(true) < $end; $calls++) {
        $busy->consume();
    }
    echo $calls === 1_000_000 - $busy->peek()->getRemainingTokens() ? 'all were charged' : 'not all were charged', "\n";
    // What two columns cannot express.
    thrown(
        fn () => $bucket("y-$i")->check(),
        fn () => $bucket("y-$i")->reserve(3)->isAccepted(),
        fn () => (new TokenBucket\FixedWindow($dsn, "y-$i", 2, 60))->consume(),
        fn () => (new TokenBucket\FixedWindow($dsn, "y-$i", 2, 60))->peek()->isAccepted(),
        fn () => (new TokenBucket\SlidingWindow($dsn, "y-$i", 2, 60))->consume(),
    );
    if ($i === 0) {
        thrown(fn () => (new TokenBucket\MysqlStorage($dsn))->prepare()); // he may not
        $made = in_processes(4, fn (): string => prepared($server->dsn('table=classic')) && prepared($server->dsn('table=new')) ? 'made ' : '?');
        echo implode($made), "\n", implode(' ', $pdo->query('SELECT column_name FROM information_schema.columns WHERE table_name = "classic" ORDER BY ordinal_position')->fetchAll(PDO::FETCH_COLUMN)), "\n";
        prepared($server->dsn('table=classic'));
        $dsn .= '&prefix='; // a session that has not seen the table before
        // What was taken before counts on.
        echo $bucket('old-0')->peek()->getRemainingTokens(), ' ', $bucket('first-his-0')->peek()->getRemainingTokens(), ' ', $bucket('both-0', 100, 0.00001)->peek()->getRemainingTokens(), "\n";
    }
}
?>
--EXPECTF--
before prepare()
7 left: 11111110
11111111110 0
111111111100 0
111111111100 0
1111111001, 1 left
51 01
10
100 of 800
all were charged
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: ALTER command denied to user 'writer'@'localhost' for table %sclassic%s
made made made made 
identifier microtime kind due part more seen hits
0 0 0
after
7 left: 11111110
11111111110 0
111111111100 0
111111111100 0
1111111001, 1 left
51 01
10
100 of 800
all were charged
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
