--TEST--
Servers: a process opens one connection for a DSN when needed, keeps it, and replaces it when dead; a child opens its own
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

foreach (['redis', 'memcached'] as $kind) {
    $server = new Server($kind);
    $ids = fn (): array => $kind === 'redis'
        ? (preg_match_all('/id=(\d+) .*name=token_bucket/', $server->ask('CLIENT LIST'), $found) ? $found[1] : [])
        : [];
    $count = fn (): int => $kind === 'redis' ? count($ids()) : $server->memcached_connections();
    $none = $count();
    $dsn = $server->dsn();
    $bucket = new TokenBucket($dsn, 'x', 1000, 1);
    echo $kind, ': ', $count() - $none;
    $bucket->consume();
    (new TokenBucket($dsn, 'y', 10, 1))->consume();
    $class = 'TokenBucket\\' . ucfirst($kind) . 'Storage';
    (new TokenBucket(new $class($dsn), 'z', 10, 1))->consume();
    echo ', ', $count() - $none;

    // A child makes its own; the parent's goes on, and its answers are its own.
    $pid = pcntl_fork();
    if ($pid === 0) {
        for ($i = 0; $i < 50; $i++) {
            $bucket->consume();
        }
        posix_kill(getmypid(), SIGKILL);
    }
    for ($i = 0; $i < 50; $i++) {
        $bucket->consume();
    }
    pcntl_waitpid($pid, $status);
    // Long gone: the server has noticed that the child is dead.
    while ($count() - $none > 1);
    echo ', ', $bucket->peek()->getRemainingTokens() > 890 ? 'shared' : '?', ', ', $count() - $none, "\n";

    if ($kind === 'redis') {
        [$before] = $ids();
        $server->ask("CLIENT KILL ID $before");
        var_dump($bucket->consume(), $ids() !== [$before], count($ids()));
        $server->ask('SCRIPT FLUSH');
        var_dump($bucket->consume());
        // A server that was replaced by another, while nobody looked.
        $server->kill();
        $server->start();
        var_dump($bucket->peek()->getRemainingTokens());
    }
}
?>
--EXPECT--
redis: 0, 1, shared, 1
bool(true)
bool(true)
int(1)
bool(true)
int(1000)
memcached: 0, 1, shared, 1
