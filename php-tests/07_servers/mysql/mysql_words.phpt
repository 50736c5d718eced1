--TEST--
MariaDB: a server's text is printed without control characters
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

foreach (['fallback', 'throw'] as $policy) {
    $port = strange_server(fn ($c) => fwrite($c, "\x23\0\0\0\xff" . pack('v', 1130) . "Host\0is\nodd\r\e[31m and more of it\xff!"));
    try {
        $said = warnings(fn () => (new TokenBucket("mysql://joe:s3cret@127.0.0.1:$port/limits?on_error=$policy", 'x', 1, 1))->consume())[0];
    } catch (Throwable $e) {
        $said = $e->getMessage();
        echo get_class($e), "\n";
    }
    echo str_contains($said, 'and more of it') && !preg_match('/[\0-\x1f]/', $said) ? 'one line' : json_encode($said, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
?>
--EXPECT--
one line
TokenBucket\StorageException
one line
