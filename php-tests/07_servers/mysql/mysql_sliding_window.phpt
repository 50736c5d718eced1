--TEST--
MariaDB and MySQL: a sliding window needs the column `hits`, whose lack is named with its remedy; prepare() adds it and keeps the rows
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
use TokenBucket\{Compound, FixedWindow, SlidingWindow};

ob_start(fn (string $printed): string => preg_replace('/127\.0\.0\.1:\d+/', '127.0.0.1:PORT', $printed));
$server = new Server(SQL_SERVER);
$tables = [
    'classic' => 'identifier VARCHAR(255) NOT NULL PRIMARY KEY, microtime DOUBLE NOT NULL',
    // As prepare() made it before there were sliding windows.
    'earlier' => 'identifier VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY, microtime DOUBLE NOT NULL, kind TINYINT, due BIGINT, part INT, more BIGINT, seen DOUBLE',
];
foreach ($tables as $table => $columns) {
    echo $table, "\n";
    $server->sql("CREATE TABLE $table ($columns) ENGINE=InnoDB");
    $dsn = $server->dsn("table=$table", 'writer:s3cret');
    $bucket = TokenBucket::per($dsn, 'x', 5, 1e6);
    $window = new SlidingWindow($dsn, 'x', 5, 1e6);
    $bucket->consume(2);
    $rows = $server->sql("SELECT identifier, microtime FROM $table ORDER BY identifier");
    // The first call warns, whatever its policy.
    foreach (['fallback', 'open', 'closed'] as $policy) {
        echo $policy, ': ', implode("\n", warnings(fn () => print(times(6, fn () => (new SlidingWindow(with($dsn, "on_error=$policy"), "$table $policy", 5, 1e6))->consume()) . ' '))), "\n";
    }
    thrown(
        fn () => $window->consume(),
        fn () => $window->peek(),
        fn () => $window->refund(),
        fn () => $window->reset(),
        fn () => $window->block(60),
        fn () => (new Compound($bucket, $window))->consume(),
        // No outage: other limits go on.
        fn () => $bucket->peek()->getRemainingTokens(),
    );
    (new TokenBucket\MysqlStorage($server->dsn("table=$table")))->prepare();
    (new TokenBucket\MysqlStorage($server->dsn("table=$table")))->prepare();
    echo $server->sql("SELECT identifier, microtime FROM $table ORDER BY identifier") === $rows ? 'the rows are kept' : 'other rows', ', ';
    echo $server->sql("SELECT data_type FROM information_schema.columns WHERE table_name = '$table' AND column_name = 'hits'"), "\n";
    // The session from before finds the column.
    echo times(6, fn () => $window->consume()), ' ', $bucket->peek()->getRemainingTokens(), ' ', (new FixedWindow($dsn, 'x', 5, 1e6))->peek()->getRemainingTokens(), ' ', json_encode((new Compound($bucket, $window))->attempt()->getDeniedBy()), "\n";
    // A row of its own, in which only what a sliding window needs is set.
    echo $server->sql("SELECT identifier, microtime = seen, kind, part, more, LENGTH(hits) FROM $table WHERE identifier LIKE '%#s'"), "\n";
    $window->block(60);
    echo times(1, fn () => $window->consume()), ' ', $window->attempt()->getRetryAfterSeconds(), ' ', $server->sql("SELECT LENGTH(hits) FROM $table WHERE identifier = 'x#s'"), ' ';
    $window->reset();
    echo times(6, fn () => $window->consume()), "\n";
}

// A row without hits is a window without any. Bytes that are no hits cannot be read: another program wrote them.
$dsn = $server->dsn('table=earlier&on_error=throw');
$window = new SlidingWindow($dsn, 'x', 5, 60);
foreach (["''", "'x'", 'NULL', "REPEAT('x', 5000)", "UNHEX('00ffffffffff00000000')", "UNHEX('00')"] as $bytes) {
    $server->sql("UPDATE `earlier` SET hits = $bytes WHERE identifier = 'x#s'");
    try {
        echo times(6, fn () => $window->consume()), ' ';
    } catch (TokenBucket\StorageException $e) {
        echo str_contains($e->getMessage(), 'the row cannot be read') ? 'unreadable ' : $e->getMessage();
    }
}
// A time from the far future closes it for one interval at most.
$server->sql("UPDATE `earlier` SET hits = UNHEX(CONCAT('00', REPEAT('00ffffffff00000000', 5))) WHERE identifier = 'x#s'");
$decision = $window->attempt();
echo json_encode([$decision->isAccepted(), $decision->getRetryAfterSeconds()]), "\n";
?>
--EXPECTF--
classic
fallback: 111110 TokenBucket\SlidingWindow::consume(): MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"; limits are enforced in this host's shared memory
open: 111111 
closed: 000000 
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'seen' in '%s'; prepare() adds the columns to `classic`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
int(3)
the rows are kept, blob
111110 3 5 ["default"]
x#s	1	NULL	NULL	NULL	46
0 60 16 111110
earlier
fallback: 111110 TokenBucket\SlidingWindow::consume(): MySQL at 127.0.0.1:PORT: Unknown column 'hits' in '%s'; prepare() adds the columns to `earlier`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"; limits are enforced in this host's shared memory
open: 111111 
closed: 000000 
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'hits' in '%s'; prepare() adds the columns to `earlier`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'hits' in '%s'; prepare() adds the columns to `earlier`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'hits' in '%s'; prepare() adds the columns to `earlier`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'hits' in '%s'; prepare() adds the columns to `earlier`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'hits' in '%s'; prepare() adds the columns to `earlier`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
TokenBucket\StorageException: MySQL at 127.0.0.1:PORT: Unknown column 'hits' in '%s'; prepare() adds the columns to `earlier`, as a user with the right to alter it; their statement is in docs/stores.md, "MariaDB and MySQL"
int(3)
the rows are kept, blob
111110 3 5 ["default"]
x#s	1	NULL	NULL	NULL	46
0 60 16 111110
111110 unreadable 111110 unreadable unreadable unreadable [false,60]
