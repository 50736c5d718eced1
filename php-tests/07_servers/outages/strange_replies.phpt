--TEST--
Servers: after half a reply, garbage, silence, single bytes or too much, the policy answers within the budget, and no reply reaches another call
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$kinds = [
    'nothing' => fn ($c) => null,
    'hangs up' => fn ($c) => fclose($c),
    'garbage' => fn ($c) => fwrite($c, "SSH-2.0-OpenSSH_9.2\r\n\r\n"),
    'half a reply' => fn ($c) => fwrite($c, "+OK\r\n$20\r\n11763"),
    'half a line' => fn ($c) => fwrite($c, 'VA 13 c'),
    'a wrong reply' => fn ($c) => fwrite($c, "+OK\r\n*2\r\n:1\r\n:2\r\n"),
    'a huge reply' => fn ($c) => fwrite($c, "+OK\r\n$" . "999999999999\r\n"),
    'too much' => fn ($c) => @fwrite($c, "+OK\r\n$8000000\r\n" . str_repeat('x', 8_000_000)),
    'a byte at a time' => function ($c): void {
        for ($i = 0; $i < 60; $i++) {
            @fwrite($c, $i < 5 ? "+OK\r\n"[$i] : "$20\r\n11763712345 123456 "[$i % 20]);
            usleep(25_000);
        }
    },
];
// What leaves a call without an answer. To all else it answers at once, for which a busy machine has time.
$silent = [
    'redis' => ['nothing', 'half a reply', 'a wrong reply', 'a huge reply', 'a byte at a time'],
    'memcached' => ['nothing', 'half a line', 'a byte at a time'],
];
foreach (['redis', 'memcached'] as $kind) {
    foreach ($kinds as $what => $serve) {
        $time = in_array($what, $silent[$kind], true) ? '' : '?timeout_ms=20000&connect_timeout_ms=20000';
        [$took, $told] = within_three_tries(300, function () use ($serve, $kind, $time): array {
            $bucket = new TokenBucket("$kind://127.0.0.1:" . strange_server($serve) . $time, 'x', 1, 1);
            return [milliseconds(function () use ($bucket, &$told): void {
                try {
                    $told = json_encode($bucket->consume());
                } catch (TokenBucket\StorageException $e) {
                    // A slow answer is a long round trip, too, if the machine makes it still slower.
                    $told = preg_replace(['/^\w+ at 127.0.0.1:\d+: /', '/; the round trip is .*/'], '', $e->getMessage());
                }
            }), $told];
        });
        echo "$kind, $what: $told", $took <= 300 ? '' : ", after $took ms", "\n";
    }
}

// A reply that comes too late must not be the next call's.
$log = temporary_file();
$late = [
    'redis' => function ($c) use ($log): void {
        stream_set_blocking($c, true);
        fread($c, 4096);
        fwrite($c, "+OK\r\n");
        $request = fread($c, 4096);
        file_put_contents($log, '.', FILE_APPEND);
        usleep(80_000);
        $reply = '1' . time() . ' 0 ' . redis_mark($request);
        @fwrite($c, '$' . strlen($reply) . "\r\n$reply\r\n");
    },
    'memcached' => function ($c) use ($log): void {
        stream_set_blocking($c, true);
        $request = fread($c, 4096);
        file_put_contents($log, '.', FILE_APPEND);
        usleep(80_000);
        @fwrite($c, "VA 0 c7 " . memcached_mark($request) . "\r\n\r\n");
    },
];
foreach ($late as $kind => $serve) {
    // A process that stands still meanwhile finds the answer to its own call.
    [$others] = within_three_tries(0, function () use ($kind, $serve, $log): array {
        file_put_contents($log, '');
        $bucket = new TokenBucket("$kind://127.0.0.1:" . strange_server($serve) . '?timeout_ms=10&connect_timeout_ms=30&on_error=closed', 'x', 1, 1);
        $others = 0;
        // Each time that the breaker closes it is asked once more.
        wait_until(function () use ($bucket, $log, &$others): bool {
            $others += (int) !@$bucket->attempt()->isDegraded();
            return strlen(file_get_contents($log)) >= 3;
        });
        return [$others, ''];
    });
    echo "$kind: asked 3 times, $others answers of another call\n";
}
?>
--EXPECT--
redis, nothing: no answer in time
redis, hangs up: the server closed the connection
redis, garbage: its answer is not Redis's protocol
redis, half a reply: no answer in time
redis, half a line: its answer is not Redis's protocol
redis, a wrong reply: no answer in time
redis, a huge reply: no answer in time
redis, too much: its answer is not Redis's protocol
redis, a byte at a time: no answer in time
memcached, nothing: no answer in time
memcached, hangs up: the server closed the connection
memcached, garbage: its answer is not memcached's meta protocol
memcached, half a reply: its answer is not memcached's meta protocol
memcached, half a line: no answer in time
memcached, a wrong reply: its answer is not memcached's meta protocol
memcached, a huge reply: its answer is not memcached's meta protocol
memcached, too much: its answer is not memcached's meta protocol
memcached, a byte at a time: no answer in time
redis: asked 3 times, 0 answers of another call
memcached: asked 3 times, 0 answers of another call
