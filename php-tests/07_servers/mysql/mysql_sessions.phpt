--TEST--
MariaDB and MySQL: a session that was killed or closed while idle is replaced without a warning; a refund whose reply is lost is not repeated
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

$server = new Server(SQL_SERVER);
prepared($server->dsn());
$sessions = fn (): array => array_filter(explode("\n", $server->sql("SELECT id FROM information_schema.processlist WHERE user = 'owner'")));
$kill = function () use ($server, $sessions): void {
    foreach ($sessions() as $id) {
        $server->sql("KILL $id");
    }
    wait_until(fn (): bool => $sessions() === []);
};
$bucket = new TokenBucket($server->dsn(), 'x', 10, 0.0001);
print_r(warnings(function () use ($server, $sessions, $kill, $bucket): void {
    foreach (['consume', 'consume', 'refund', 'peek', 'consume', 'check'] as $method) {
        $kill();
        $bucket->$method();
        echo $method, ': ', count($sessions()), " session\n";
    }
    echo $bucket->peek()->getRemainingTokens(), " left\n";

    // The server closes what has been idle for a second.
    $kill();
    $server->sql('SET GLOBAL wait_timeout = 1');
    $bucket->consume();
    echo count($sessions()), " session\n";
    wait_until(fn (): bool => $sessions() === []);
    $bucket->consume();
    wait_until(fn (): bool => $sessions() === []);
    $bucket->refund();
    echo $bucket->peek()->getRemainingTokens(), " left\n";
    $server->sql('SET GLOBAL wait_timeout = 28800');
}));

/** Passes on what both say, and hangs up when it has read the third statement to run of a connection. */
function forgetful(Server $server, string $log): int
{
    $calls = 0;
    return proxy($server->port, function (string $bytes, bool $is_answer) use ($log, &$calls): ?string {
        // Each packet begins with its length and number. Its command is 0x17 if it is run, not prepared.
        for ($at = 0; !$is_answer && isset($bytes[$at + 4]); $at += 4 + unpack('V', substr($bytes, $at, 3) . "\0")[1]) {
            if ($bytes[$at + 4] === "\x17") {
                file_put_contents($log, '.', FILE_APPEND);
                $calls++;
            }
        }
        return $calls === 3 ? null : $bytes;
    });
}

$log = "$server->folder/asked";
$bucket = new TokenBucket('mysql://owner:s3cret@127.0.0.1:' . forgetful($server, $log) . '/limits', 'y', 10, 0.0001);
foreach (['consume', 'consume', 'consume', 'refund'] as $method) {
    file_put_contents($log, '');
    try {
        $bucket->$method();
        echo "$method() done";
    } catch (TokenBucket\StorageException $e) {
        echo "$method(): ", preg_replace('/:\d+:/', ':PORT:', $e->getMessage());
    }
    echo ', asked ', strlen(file_get_contents($log)), "\n";
}
echo (new TokenBucket($server->dsn(), 'y', 10, 0.0001))->peek()->getRemainingTokens(), " left\n";
?>
--EXPECT--
consume: 1 session
consume: 1 session
refund: 1 session
peek: 1 session
consume: 1 session
check: 1 session
7 left
1 session
6 left
Array
(
)
consume() done, asked 2
consume() done, asked 2
consume() done, asked 1
refund(): MySQL at 127.0.0.1:PORT: the idle connection was lost, and maybe the call was done, asked 1
7 left
