--TEST--
MariaDB and MySQL: the statement that removes old rows removes only expired ones, also while eight processes take tokens
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
require dirname(__DIR__) . '/processes.inc';

$server = new Server(SQL_SERVER);
$dsn = prepared($server->dsn());
const PURGE = 'DELETE FROM token_bucket WHERE seen = microtime AND due < UNIX_TIMESTAMP() * 1000000000';

// In each a name, what is done, and what is asked afterwards.
$bucket = fn (string $name, int $capacity, float $rate): TokenBucket => new TokenBucket($dsn, $name, $capacity, $rate);
$window = fn (string $name, int $limit, float $interval): TokenBucket\FixedWindow => new TokenBucket\FixedWindow($dsn, $name, $limit, $interval);
$sliding = fn (string $name, int $limit, float $interval): TokenBucket\SlidingWindow => new TokenBucket\SlidingWindow($dsn, $name, $limit, $interval);
$in_use = [
    'taken from' => [$bucket('taken from', 10, 0.0001), fn ($b) => $b->consume(3)],
    'emptied' => [$bucket('emptied', 10, 0.0001), fn ($b) => $b->consume(10)],
    'overdrawn' => [$bucket('overdrawn', 2, 0.0001), fn ($b) => array_map(fn () => $b->check(), range(1, 9))],
    'overdrawn, part refunded' => [$bucket('refunded', 2, 0.0001), fn ($b) => [$b->check(), $b->check(), $b->check(), $b->check(), $b->refund(1)]],
    'reserved' => [$bucket('reserved', 2, 0.0001), fn ($b) => $b->reserve(2) && $b->reserve(2) && $b->reserve(1)],
    'window' => [$window('window', 3, 10_000), fn ($w) => $w->consume(2)],
    'full window' => [$window('full window', 3, 10_000), fn ($w) => $w->consume(3)],
    'sliding window' => [$sliding('sliding', 9, 10_000), fn ($w) => $w->consume(2) && $w->consume(3)],
    'full sliding window' => [$sliding('full sliding', 3, 10_000), fn ($w) => $w->consume(3)],
    'blocked sliding window' => [$sliding('blocked sliding', 3, 0.01), fn ($w) => $w->block(10_000)],
    'large' => [$bucket('large', 2_147_483_647, 100), fn ($b) => $b->consume(2_000_000_000)],
];
$as_new = [
    'refilled' => [$bucket('refilled', 10, 1_000), fn ($b) => $b->consume(10)],
    'forgiven' => [$bucket('forgiven', 2, 1_000), fn ($b) => array_map(fn () => $b->check(), range(1, 9))],
    'reserved, refilled' => [$bucket('reserved, refilled', 2, 1_000), fn ($b) => $b->reserve(2) && $b->reserve(2)],
    'window, ended' => [$window('window, ended', 3, 0.01), fn ($w) => $w->consume(3)],
    'sliding window, ended' => [$sliding('sliding, ended', 3, 0.01), fn ($w) => $w->consume(3)],
    'sliding window, reset' => [$sliding('sliding, reset', 3, 10_000), fn ($w) => [$w->consume(3), $w->reset()]],
    'reset' => [$bucket('reset', 10, 0.0001), fn ($b) => [$b->consume(3), $b->reset()]],
    'window, reset' => [$window('window, reset', 3, 10_000), fn ($w) => [$w->consume(3), $w->reset()]],
];
foreach ([...$in_use, ...$as_new] as [$limiter, $use]) {
    $use($limiter);
}
// Rows of classic code, which knows not how long they last: never removed.
$server->sql('INSERT INTO token_bucket (identifier, microtime) VALUES ("classic", 1), ("classic, late", UNIX_TIMESTAMP() - 20000)');
$in_use['classic'] = [$bucket('classic', 10, 0.0001), null];
$in_use['classic, late'] = [$bucket('classic, late', 10, 0.0001), null];

$told = function () use ($in_use, $as_new): array {
    $told = [];
    foreach ([...$in_use, ...$as_new] as $name => [$limiter]) {
        $capacity = $limiter->peek()->getLimit();
        // What would be accepted, and what is left; of a limit that refills slowly.
        $told[$name] = [$limiter->peek(1)->isAccepted(), $limiter->peek(min(2, $capacity))->isAccepted(), $limiter->peek($capacity)->isAccepted(), $limiter->peek()->getRemainingTokens() >> 10 ?: $limiter->peek()->getRemainingTokens()];
    }
    return $told;
};
$rows = fn (): int => (int) $server->sql('SELECT COUNT(*) FROM token_bucket');
wait_until(fn (): bool => (int) $server->sql(str_replace('DELETE', 'SELECT COUNT(*)', PURGE)) === count($as_new));
$before = $told();
$server->sql(PURGE);
echo $rows() === count($in_use) ? 'those in use are left' : "{$rows()} rows", "\n";
echo $told() === $before ? "decisions as before\n" : print_r([$before, $told()], true);
// check() and reserve() go on from where they were.
var_dump($in_use['overdrawn'][0]->check(), $in_use['reserved'][0]->reserve(1)->getWait() > 30_000);

foreach (['a bucket', 'a window'] as $what) {
    $purged = "$server->folder/" . strtr($what, ' ', '_');
    $counts = in_processes(9, function (int $process) use ($server, $dsn, $what, $purged): int {
        if ($process === 8) {
            $pdo = new PDO("mysql:host=127.0.0.1;port=$server->port;dbname=limits", 'owner', 's3cret', [PDO::ATTR_ERRMODE => PDO::ERRMODE_SILENT]);
            for ($removed = 0, $end = hrtime(true) + 30e9; $removed < 1_000 && hrtime(true) < $end; usleep(20_000)) {
                $removed += (int) $pdo->exec(PURGE); // a deadlock may be told to it, and not to us
            }
            touch($purged);
            return $removed >= 1_000 ? 0 : -1000;
        }
        $limiter = $what === 'a bucket' ? new TokenBucket($dsn, $what, 100, 0.00001) : new TokenBucket\FixedWindow($dsn, $what, 100, 10_000);
        $accepted = 0;
        // Others come and go meanwhile.
        for ($try = 0; $try < 100 || !file_exists($purged); $try++) {
            $accepted += (int) $limiter->consume();
            (new TokenBucket($dsn, "$what $process $try", 1, 1_000_000))->consume();
        }
        return $accepted;
    });
    echo $what, ': ', array_sum($counts), "\n";
}
?>
--EXPECT--
those in use are left
decisions as before
bool(true)
bool(true)
a bucket: 100
a window: 100
