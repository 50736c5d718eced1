--TEST--
Servers: one that must not be written to denies who is denied, also where check() would charge the denial; peek() and reset() agree with attempt()
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=open
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$say = fn (bool $is_limited): string => $is_limited ? 'limited' : 'let in';
$try = function (string $what, string $dsn, callable $withhold) use ($say): void {
    [$denied, $new] = array_map(fn (string $client): TokenBucket => new TokenBucket($dsn, $client, 5, 0.0001), ['denied', 'new']);
    while (!$denied->check());
    $withhold();
    echo "$what: ", $say($denied->check()), ', new: ', $say(@$new->check());
    if (!str_starts_with($dsn, 'memcached')) {
        echo ', both: ', $say(!(new TokenBucket\Compound($denied, $new))->attempt()->isAccepted());
    }
    echo "\n";
};

$redis = new Server('redis');
$try('Redis', $redis->dsn(), fn () => $redis->ask('REPLICAOF 127.0.0.1 1'));
$full = new Server('redis');
$try('Redis without memory', $full->dsn(), fn () => $full->ask('CONFIG SET maxmemory 1'));
$database = new Server(SQL_SERVER);
prepared($database->dsn());
$try('MariaDB or MySQL', $database->dsn(), fn () => $database->sql('SET GLOBAL read_only = 1'));

ini_set('token_bucket.on_error', 'fallback');
$client = new TokenBucket($redis->dsn(), 'client', 2, 0.0001);
$accepted = 0;
while (@$client->attempt()->isAccepted()) {
    $accepted++;
}
$peek = @$client->peek();
echo "by this host: $accepted accepted, then ", $peek->isAccepted() ? 'peek() differs' : 'peek() denies', $peek->isDegraded() ? ', degraded' : '', "\n";
@$client->reset();
echo 'after reset() ', @$client->peek()->isAccepted() && @$client->attempt()->isAccepted() ? 'accepted' : 'denied', "\n";

// What takes nothing agrees with what takes.
ini_set('token_bucket.on_error', 'closed');
$master = new Server('redis');
$dsn = $master->dsn('timeout_ms=5000');
[$used_up, $free, $dry] = [TokenBucket::per($dsn, 'used up', 1, 3600), TokenBucket::per($dsn, 'free', 9, 3600), TokenBucket::per("$dsn&enforce=0", 'dry', 1, 3600)];
foreach ([$used_up, $free, $dry] as $limit) {
    $limit->consume();
}
$master->ask('REPLICAOF 127.0.0.1 1');
$limiters = ['a bucket' => $free, 'FirstOf' => new TokenBucket\FirstOf($used_up, $free), 'Compound with a dry run' => new TokenBucket\Compound($dry, $free)];
foreach ($limiters as $what => $limiter) {
    $answers = array_map(fn (callable $call) => @$call()->isAccepted() ? 'accepted' : 'denied', [
        fn () => $limiter->attempt(),
        fn () => $limiter->peek(),
        fn () => $limiter->attempt(0),
        ...($limiter === $free ? [fn () => $limiter->attempt(0, leave: 2), fn () => $limiter->reserve(0), fn () => $limiter->peek()] : []),
    ]);
    echo "$what: ", implode(', ', $answers), "\n";
}

// The command says that the server did not confirm the change.
$options = getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.shm_path=' . escapeshellarg(ini_get('token_bucket.shm_path'));
foreach (['closed', 'fallback'] as $policy) {
    $words = 'block --identifier someone 60 --storage ' . escapeshellarg($redis->dsn());
    exec(escapeshellarg(PHP_BINARY) . " -n $options -d token_bucket.on_error=$policy " . dirname(__DIR__, 2) . "/bin/token-bucket $words --user " . posix_getpwuid(posix_geteuid())['name'] . ' 2>&1', $lines, $code);
    echo "block, $policy: $code, ", in_array('The server did not confirm the change: run this again when the server is up.', $lines) ? 'not confirmed' : implode(' | ', $lines), "\n";
    $lines = [];
}
?>
--EXPECT--
Redis: limited, new: let in, both: limited
Redis without memory: limited, new: let in, both: limited
MariaDB or MySQL: limited, new: let in, both: limited
by this host: 2 accepted, then peek() denies, degraded
after reset() accepted
a bucket: denied, denied, denied, denied, denied, denied
FirstOf: denied, denied, denied
Compound with a dry run: denied, denied, denied
block, closed: 1, not confirmed
block, fallback: 1, not confirmed
