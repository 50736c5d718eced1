--TEST--
Servers: a call lost with an idle connection is repeated; a refund is not, because it may have been done
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

/** Passes on a server's first call on each connection, and hangs up when it has read the second. */
function forgetful(Server $server, string $asked, string $log): int
{
    $calls = 0;
    return proxy($server->port, function (string $bytes, bool $is_answer) use ($asked, $log, &$calls): ?string {
        if (!$is_answer && str_contains($bytes, $asked)) {
            file_put_contents($log, $asked, FILE_APPEND);
            $calls++;
        }
        return $calls === 2 ? null : $bytes;
    });
}

$log = temporary_file();
foreach (['redis' => 'EVALSHA', 'memcached' => 'ms '] as $kind => $asked) {
    $server = new Server($kind);
    // So that the script is known, which is longer than what is passed on in one piece.
    (new TokenBucket($server->dsn(), 'other', 1, 1))->peek();
    $bucket = new TokenBucket("$kind://127.0.0.1:" . forgetful($server, $asked, $log), 'x', 10, 0.001);
    // The last: the server is up, and so it is asked.
    foreach (['consume', 'consume', 'refund', 'consume'] as $method) {
        file_put_contents($log, '');
        try {
            $bucket->$method();
            echo "$kind: $method() done";
        } catch (TokenBucket\StorageException $e) {
            echo "$kind: $method(): ", preg_replace('/:\d+:/', ':PORT:', $e->getMessage());
        }
        echo ', asked ', substr_count(file_get_contents($log), $asked), "\n";
    }
    echo (new TokenBucket($server->dsn(), 'x', 10, 0.001))->peek()->getRemainingTokens(), " left\n";
}
?>
--EXPECT--
redis: consume() done, asked 1
redis: consume() done, asked 2
redis: refund(): Redis at 127.0.0.1:PORT: the idle connection was lost, and maybe the call was done, asked 1
redis: consume() done, asked 1
7 left
memcached: consume() done, asked 1
memcached: consume() done, asked 2
memcached: refund(): memcached at 127.0.0.1:PORT: the idle connection was lost, and maybe the call was done, asked 1
memcached: consume() done, asked 1
7 left
