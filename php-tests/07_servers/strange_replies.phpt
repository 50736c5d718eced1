--TEST--
Servers: half a reply, garbage, nothing, a byte at a time, too much: the policy answers within the budget, and no reply is another call's
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

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
foreach (['redis', 'memcached'] as $kind) {
    foreach ($kinds as $what => $serve) {
        $port = strange_server($serve);
        $bucket = new TokenBucket("$kind://127.0.0.1:$port", "x", 1, 1);
        $took = milliseconds(function () use ($bucket, $kind, $what): void {
            try {
                var_dump($bucket->consume());
            } catch (TokenBucket\StorageException $e) {
                echo $kind, ', ', $what, ': ', preg_replace('/^\w+ at 127.0.0.1:\d+: /', '', $e->getMessage()), "\n";
            }
        });
        if ($took > 300) {
            echo "took $took ms\n";
        }
    }
}

// A reply that comes too late must not be the next call's.
$late = strange_server(function ($c): void {
    fread($c, 4096);
    usleep(80_000);
    @fwrite($c, "+OK\r\n$20\r\n11763712345 123456 \r\n");
});
$bucket = new TokenBucket("redis://127.0.0.1:$late?timeout_ms=10&connect_timeout_ms=30&on_error=closed", 'x', 1, 1);
$others = 0;
@$bucket->consume();
$end = hrtime(true) + 5e8;
while (hrtime(true) < $end) {
    $others += (int) !@$bucket->attempt()->isDegraded();
}
echo $others, " answers of another call\n";
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
0 answers of another call
