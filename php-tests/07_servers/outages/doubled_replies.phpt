--TEST--
Redis and memcached: a doubled reply is not taken for the next call's
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

/** Passes on what both say; but a command that was $asked before gets the answer to the one before first. */
function doubling(Server $server, string $asked, string $log): int
{
    return strange_server(function ($client) use ($server, $asked, $log): void {
        if (pcntl_fork() > 0) {
            fclose($client);
            return;
        }
        stream_set_blocking($client, true);
        $upstream = stream_socket_client("tcp://127.0.0.1:$server->port");
        $before = '';
        while (($request = fread($client, 65536)) !== '' && $request !== false) {
            $is_asked = str_contains($request, $asked);
            if ($is_asked && $before !== '') {
                file_put_contents($log, '.', FILE_APPEND);
                fwrite($client, $before);
            }
            fwrite($upstream, $request);
            $answer = fread($upstream, 65536);
            @fwrite($client, $answer);
            $before = $is_asked ? $answer : $before;
        }
        posix_kill(posix_getpid(), SIGKILL);
    });
}

$log = temporary_file();
foreach (['redis' => 'EVALSHA', 'memcached' => 'ms '] as $kind => $asked) {
    $server = new Server($kind);
    // So that the script is known.
    (new TokenBucket($server->dsn(), 'other', 1, 1))->peek();
    file_put_contents($log, '');
    $wrong = 0;
    for ($round = 0; $round < 8; $round++) {
        $port = doubling($server, $asked, $log);
        $bucket = new TokenBucket("$kind://127.0.0.1:$port", "x$round", 2, 0.0001);
        $other = new TokenBucket($server->dsn(), "x$round", 2, 0.0001);
        $other->peek();
        // Two tokens for three calls.
        $wrong += (int) ([$bucket->consume(), $other->consume(), $bucket->consume()] !== [true, true, false]);
    }
    echo $kind, ': ', file_get_contents($log) === '' ? 'no reply came twice' : 'replies came twice', ", $wrong of 8 wrong\n";
}
?>
--EXPECT--
redis: replies came twice, 0 of 8 wrong
memcached: replies came twice, 0 of 8 wrong
