--TEST--
MariaDB and MySQL: a denial is one SELECT, of a Compound, too; a decision on a handed-off state one UPDATE, any other one of each; a process has one session, and a child opens its own
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
require dirname(__DIR__, 2) . '/processes.inc';

$server = new Server(SQL_SERVER);
prepared($server->dsn());
$server->sql('CREATE TABLE classic (identifier VARCHAR(255) PRIMARY KEY, microtime DOUBLE NOT NULL) ENGINE=InnoDB');
$sessions = fn (string $user): array => array_filter(explode("\n", $server->sql("SELECT id FROM information_schema.processlist WHERE user = '$user'")));

/** A session that counts, all the time the same: the server may count the end of one after the next has begun. */
$client = proc_open(['mariadb', '--no-defaults', '--skip-ssl', "--socket=$server->folder/socket", '--user=root', '--skip-column-names', '--batch', '--unbuffered'], [['pipe', 'r'], ['pipe', 'w']], $counting);

/** How many statements of each kind the server ran for $work. */
function count_statements(callable $work): array
{
    $counts = function (): array {
        global $counting;
        $names = ['Questions', 'Com_stmt_execute', 'Com_stmt_prepare', 'Com_insert', 'Com_update', 'Com_select', 'Connections'];
        fwrite($counting[0], "SHOW GLOBAL STATUS WHERE Variable_name IN ('" . implode("', '", $names) . "');\n");
        $counts = [];
        foreach ($names as $_) {
            [$name, $count] = explode("\t", trim(fgets($counting[1])));
            $counts[strtolower($name)] = (int) $count;
        }
        ksort($counts);
        return $counts;
    };
    [$first, $second] = [$counts(), $counts()];
    $work();
    $third = $counts();
    // Less what counting itself takes.
    return array_filter(array_combine(array_keys($first), array_map(fn ($a, $b, $c): int => $c - $b - ($b - $a), $first, $second, $third)));
}

/** Each operation twice, so that all is prepared, then a hundred times. A busy machine may forget what was handed off: up to five more SELECTs are left out, and the statement that one of them prepares. */
function count_each(string $dsn, array $operations): void
{
    foreach ($operations as $what => $operation) {
        $operation($dsn);
        $operation($dsn);
        $begin = hrtime(true);
        $counts = count_statements(function () use ($operation, $dsn): void {
            for ($i = 0; $i < 100; $i++) {
                $operation($dsn);
            }
        });
        // Once a second a session asks whether the classic table has got the other columns: a question that is refused.
        $looks = $counts['questions'] - $counts['com_stmt_execute'];
        if (str_contains($dsn, 'classic') && $looks <= 1 + (hrtime(true) - $begin) / 1e9) {
            $counts['questions'] -= $looks;
        }
        $further = ($counts['com_select'] ?? 0) % 50;
        if (($counts['com_stmt_prepare'] ?? 0) === 1) {
            unset($counts['com_stmt_prepare']);
        }
        if ($further <= 5) {
            $counts = array_filter(['com_select' => ($counts['com_select'] ?? 0) - $further, 'com_stmt_execute' => $counts['com_stmt_execute'] - $further, 'questions' => $counts['questions'] - $further] + $counts);
        }
        ksort($counts);
        echo $what, ': ', json_encode($counts), "\n";
    }
}

$bucket = new TokenBucket($server->dsn(), 'x', 100_000, 0.001);
echo json_encode(count_statements(fn () => $bucket->consume())), "\n";
count_each($server->dsn(), [
    'consume()' => fn (string $dsn) => $bucket->consume(),
    'consume(), denied' => fn (string $dsn) => (new TokenBucket($dsn, 'small', 1, 0.001))->consume(),
    'attempt()' => fn (string $dsn) => $bucket->attempt(),
    'peek()' => fn (string $dsn) => $bucket->peek(),
    'peek(), no row' => fn (string $dsn) => (new TokenBucket($dsn, 'nobody', 5, 1))->peek(),
    'refund()' => fn (string $dsn) => $bucket->refund(),
    'check()' => fn (string $dsn) => $bucket->check('client', 1000, 60),
    'check(), limited' => fn (string $dsn) => $bucket->check('limited', 1, 60),
    'reserve()' => fn (string $dsn) => (new TokenBucket($dsn, 'reserved', 2, 1))->reserve(),
    'reset()' => fn (string $dsn) => (new TokenBucket($dsn, 'new', 2, 1))->reset(),
    'LeakyBucket' => fn (string $dsn) => (new TokenBucket\LeakyBucket($dsn, 'leaky', 1000, 60))->consume(),
    'FixedWindow' => fn (string $dsn) => (new TokenBucket\FixedWindow($dsn, 'window', 52, 600))->consume(),
    'SlidingWindow' => fn (string $dsn) => (new TokenBucket\SlidingWindow($dsn, 'sliding', 260, 600))->consume(5),
]);
echo "a Compound of a bucket, a window and a sliding window\n";
$compound = new TokenBucket\Compound($bucket, new TokenBucket\FixedWindow($server->dsn(), 'window', 1000, 600), new TokenBucket\SlidingWindow($server->dsn(), 'sliding', 1000, 600));
count_each($server->dsn(), [
    'consume()' => fn () => $compound->consume(),
    'consume(), denied' => fn () => $compound->consume(1000),
    'peek()' => fn () => $compound->peek(),
]);
echo "newcomers\n";
$new = 0;
count_each($server->dsn(), [
    'consume()' => function (string $dsn) use (&$new): void {
        (new TokenBucket($dsn, 'newcomer ' . $new++, 5, 1))->consume();
    },
    'a Compound of two' => function (string $dsn) use (&$new): void {
        (new TokenBucket\Compound(new TokenBucket($dsn, 'newcomer ' . $new++, 5, 1), new TokenBucket($dsn, 'newcomer ' . $new++, 5, 1)))->consume();
    },
    'a Compound with one' => function (string $dsn) use ($bucket, &$new): void {
        (new TokenBucket\Compound($bucket, new TokenBucket($dsn, 'newcomer ' . $new++, 5, 1)))->consume();
    },
]);
echo "a bucket that check() has overdrawn\n";
$overdrawn = new TokenBucket($server->dsn(), 'overdrawn', 1, 0.001);
$overdrawn->check();
$overdrawn->check();
count_each($server->dsn(), ['consume()' => fn (string $dsn) => $overdrawn->consume()]);
echo "the classic table\n";
count_each($server->dsn('table=classic'), [
    'consume()' => fn (string $dsn) => (new TokenBucket($dsn, 'x', 1000, 0.001))->consume(),
    'peek()' => fn (string $dsn) => (new TokenBucket($dsn, 'x', 1000, 0.001))->peek(),
]);

echo "sessions\n";
$dsn = $server->dsn('', 'writer:s3cret');
$bucket = new TokenBucket($dsn, 'shared', 1000, 0.001);
echo count($sessions('writer')), "\n";
$bucket->consume();
(new TokenBucket($dsn, 'other', 10, 1))->consume();
(new TokenBucket(new TokenBucket\MysqlStorage($dsn), 'another', 10, 1))->consume();
$own = $sessions('writer');
echo count($own), "\n";
foreach (['killed', 'ended'] as $end) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        for ($i = 0; $i < 50; $i++) {
            $bucket->consume();
        }
        file_put_contents("$server->folder/$end", count($sessions('writer')));
        $end === 'killed' ? posix_kill(posix_getpid(), SIGKILL) : exit;
    }
    for ($i = 0; $i < 50; $i++) {
        $bucket->consume();
    }
    pcntl_waitpid($pid, $status);
    wait_until(fn (): bool => count($sessions('writer')) < 2);
    $bucket->consume();
    echo "$end: ", file_get_contents("$server->folder/$end"), ' meanwhile; ', $sessions('writer') === $own ? 'the same as before' : 'another', ', ', $bucket->peek()->getRemainingTokens(), " left\n";
}
?>
--EXPECT--
{"com_insert":1,"com_select":1,"com_stmt_execute":2,"com_stmt_prepare":3,"connections":1,"questions":3}
consume(): {"com_stmt_execute":100,"com_update":100,"questions":100}
consume(), denied: {"com_select":100,"com_stmt_execute":100,"questions":100}
attempt(): {"com_stmt_execute":100,"com_update":100,"questions":100}
peek(): {"com_select":100,"com_stmt_execute":100,"questions":100}
peek(), no row: {"com_select":100,"com_stmt_execute":100,"questions":100}
refund(): {"com_stmt_execute":100,"com_update":100,"questions":100}
check(): {"com_stmt_execute":100,"com_update":100,"questions":100}
check(), limited: {"com_stmt_execute":100,"com_update":100,"questions":100}
reserve(): {"com_stmt_execute":100,"com_update":100,"questions":100}
reset(): {"com_select":100,"com_stmt_execute":100,"questions":100}
LeakyBucket: {"com_stmt_execute":100,"com_update":100,"questions":100}
FixedWindow: {"com_select":50,"com_stmt_execute":100,"com_update":50,"questions":100}
SlidingWindow: {"com_select":100,"com_stmt_execute":150,"com_update":50,"questions":150}
a Compound of a bucket, a window and a sliding window
consume(): {"com_select":400,"com_stmt_execute":700,"com_update":300,"questions":900}
consume(), denied: {"com_select":100,"com_stmt_execute":100,"questions":100}
peek(): {"com_select":100,"com_stmt_execute":100,"questions":100}
newcomers
consume(): {"com_insert":100,"com_select":100,"com_stmt_execute":200,"questions":200}
a Compound of two: {"com_insert":200,"com_select":300,"com_stmt_execute":700,"com_update":200,"questions":900}
a Compound with one: {"com_insert":100,"com_select":300,"com_stmt_execute":600,"com_update":200,"questions":800}
a bucket that check() has overdrawn
consume(): {"com_select":100,"com_stmt_execute":100,"questions":100}
the classic table
consume(): {"com_select":100,"com_stmt_execute":200,"com_update":100,"questions":200}
peek(): {"com_select":100,"com_stmt_execute":100,"questions":100}
sessions
0
1
killed: 2 meanwhile; the same as before, 898 left
ended: 2 meanwhile; the same as before, 797 left
