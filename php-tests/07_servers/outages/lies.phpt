--TEST--
Servers: a false decision is detected; false states and times close no bucket for longer than one refill
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

/** A Redis that answers to every script with this. */
function redis(string $answer): string
{
    $port = strange_server(function ($c) use ($answer): void {
        stream_set_blocking($c, true);
        fread($c, 65536);
        fwrite($c, "+OK\r\n");
        $answer .= redis_mark(fread($c, 65536));
        @fwrite($c, '$' . strlen($answer) . "\r\n$answer\r\n");
        fclose($c);
    });
    return "redis://127.0.0.1:$port";
}

/** A memcached that has this under every key, with these client flags, and keeps nothing. */
function memcached(string $value, int $flags = 0): string
{
    $port = strange_server(function ($c) use ($value, $flags): void {
        stream_set_blocking($c, true);
        for ($i = 0; $i < 200 && ($command = fread($c, 65536)) !== '' && $command !== false; $i++) {
            $mark = memcached_mark($command);
            fwrite($c, str_starts_with($command, 'mg') ? 'VA ' . strlen($value) . " c7 f$flags $mark\r\n$value\r\n" : "HD c8 $mark\r\n");
        }
        fclose($c);
    });
    return "memcached://127.0.0.1:$port";
}

/** A state: the bucket is full at this time. */
function full_at(int $seconds): string
{
    return substr(pack('J', $seconds), 3) . pack('NN', 0, 0);
}

function show(string $what, string $dsn): void
{
    try {
        $decision = @(new TokenBucket($dsn, 'x', 10, 0.1))->attempt();
        $shown = $decision->isAccepted() ? 'yes' : 'no';
        if ($decision->getRetryAfter() > 100.000001 || $decision->getResetAfter() > 100.000001) {
            $shown .= ', and closed for ' . json_encode($decision);
        }
    } catch (TokenBucket\StorageException $e) {
        $shown = preg_replace('/^\w+ at 127.0.0.1:\d+: /', '', $e->getMessage());
    }
    echo "$what: $shown\n";
}

$now = time();
$last = 4_611_686_017; // the last second that a time of ours can have
foreach ([
    'the truth' => "1$now 0 ",
    'a full bucket denies' => "0$now 0 ",
    'an empty one accepts' => "1$now 0 " . full_at($now + 100),
    'an empty one denies' => "0$now 0 " . full_at($now + 100),
    'a state of the far future' => "0$now 0 " . full_at($last),
    'the beginning of time' => "0" . '0 0 ' . full_at($now),
    'the end of it' => "1$last 0 " . full_at($now),
    'beyond' => '199999999999 0 ',
    'no time' => '1x y ',
    'a negative one' => '1-5 -5 ',
    'more microseconds than a second has' => "1$now 99999999 ",
    'a state that is none' => "1$now 0 hello",
] as $what => $answer) {
    show("redis, $what", redis($answer));
}
foreach (['a full bucket' => full_at($now - 5), 'an empty one' => full_at($now + 100), 'the far future' => full_at($last), 'beyond' => full_at($last + 5), 'none' => 'hello'] as $what => $value) {
    show("memcached, $what", memcached($value));
}
foreach (['written in the year 2088' => 0x7FFF_FFFF, 'by a test, too' => 0xFFFF_FFFF, 'by no program of ours' => 99_999_999_999] as $what => $flags) {
    show("memcached, $what", memcached(full_at($now + 100), $flags));
    show("memcached, the far future, $what", memcached(full_at($last), $flags));
}
?>
--EXPECT--
redis, the truth: yes
redis, a full bucket denies: Redis's script gave an answer that cannot be read
redis, an empty one accepts: Redis's script gave an answer that cannot be read
redis, an empty one denies: no
redis, a state of the far future: no
redis, the beginning of time: no
redis, the end of it: Redis's script gave an answer that cannot be read
redis, beyond: Redis's script gave an answer that cannot be read
redis, no time: Redis's script gave an answer that cannot be read
redis, a negative one: Redis's script gave an answer that cannot be read
redis, more microseconds than a second has: yes
redis, a state that is none: yes
memcached, a full bucket: yes
memcached, an empty one: no
memcached, the far future: no
memcached, beyond: yes
memcached, none: yes
memcached, written in the year 2088: yes
memcached, the far future, written in the year 2088: no
memcached, by a test, too: yes
memcached, the far future, by a test, too: no
memcached, by no program of ours: no
memcached, the far future, by no program of ours: no
