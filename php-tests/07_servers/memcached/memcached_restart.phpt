--TEST--
memcached: a handed-off token is not sent to a server that was started since
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

$token = fn (Server $server, string $id = 'x'): int => preg_match('/ c(\d+)/', $server->ask("mg tb:$id c"), $found) ? (int) $found[1] : 0;
for ($round = 0; $round < 4; $round++) {
    $first = new Server('memcached+unix');
    $second = new Server('memcached+unix');
    $bucket = fn (Server $server, string $id): TokenBucket => new TokenBucket($server->dsn(), $id, 10, 0.0001);
    // On the second server the bucket is empty.
    for ($i = 0; $i < 10; $i++) {
        $bucket($second, 'x')->consume();
    }
    // On the first it is not, and its token is the same number. Each server's tokens count all its changes.
    $before = new TokenBucket($first->dsn(), 'other', 1000, 1);
    while ($token($first, 'other') < $token($second) - 1) {
        $before->consume();
    }
    $x = $bucket($first, 'x');
    $x->peek();
    $x->consume();
    $is_same = $token($first) === $token($second);
    // The second takes the place of the first, as after a restart, while what was handed on is fresh.
    $first->kill();
    rename("$second->folder/socket", "$first->folder/socket");
    echo $is_same ? 'one token, ' : 'other tokens, ', $x->consume() ? 'one too many' : 'denied', "\n";
}
?>
--EXPECT--
one token, denied
one token, denied
one token, denied
one token, denied
