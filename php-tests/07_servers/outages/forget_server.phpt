--TEST--
status(): a server that is down has the reason of its last failure; it is left out once it is forgotten, until a call needs it again
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/utils.inc';
use function TokenBucket\{forget_server, prometheus, status};
run_apart(__FILE__);
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.timeout_ms=5000 -d token_bucket.shm_path=' . ini_get('token_bucket.shm_path');

function row(string $name): string
{
    $row = array_column(status()['servers'], null, 'name')[$name] ?? null;
    $metrics = str_contains(prometheus(), "token_bucket_server_up{server=\"$name\"}");
    return ($row === null ? 'not listed' : ($row['up'] ? 'up' : 'down') . ", $row[outages] outages, last failure: " . json_encode($row['last_failure'], JSON_UNESCAPED_SLASHES)) . ($metrics === ($row !== null) ? '' : ', but in prometheus()');
}

/** What another process says to a call. */
function call_elsewhere(string $dsn): string
{
    global $php;
    $code = 'try { (new TokenBucket($argv[1], "x", 1e6, 1))->consume(); echo "by the store"; } catch (TokenBucket\StorageException $e) { echo $e->getMessage(); }';
    return (string) shell_exec("$php -r " . escapeshellarg($code) . ' ' . escapeshellarg($dsn) . ' 2>&1');
}

// A password that the server refuses is in no reason.
$server = new Server('redis', ['--requirepass', 's3cret']);
$name = "Redis at 127.0.0.1:$server->port";
(new TokenBucket("redis://:s3cret@127.0.0.1:$server->port", 'x', 1e6, 1))->consume();
echo row($name), "\n";
@(new TokenBucket("redis://:wr0ng@127.0.0.1:$server->port", 'x', 1e6, 1))->consume();
echo row($name), "\n";
$server->kill();
warning_of_outage("redis://:s3cret@127.0.0.1:$server->port");
echo row($name), "\n";

var_dump(forget_server('Redis at nowhere'), forget_server($name), forget_server($name));
echo row($name), "\n";

// The failure of a process alone, here a missing socket, tells nothing of the server; the call needs it all the same.
$server = new Server('redis+unix');
$dsn = $server->dsn('on_error=throw');
$name = "Redis at $server->folder/socket";
$show = fn (): string => str_replace($server->folder, 'FOLDER', row($name)) . "\n";
echo call_elsewhere($dsn), ': ', $show();
forget_server($name);
echo $show();
rename("$server->folder/socket", "$server->folder/moved");
echo str_replace($server->folder, 'FOLDER', call_elsewhere($dsn)), ': ', $show();
forget_server($name);

// One that a directive names is in use.
ini_set('token_bucket.storage', $dsn);
echo 'configured: ', $show();
ini_restore('token_bucket.storage');
forget_server($name);
echo 'no longer: ', $show();

// The command, with a name of several words.
rename("$server->folder/moved", "$server->folder/socket");
call_elsewhere($dsn);
$command = "$php " . escapeshellarg(dirname(__DIR__, 3) . '/bin/token-bucket')
    . ' forget --user ' . posix_getpwuid(posix_geteuid())['name'] . ' ';
foreach ([$name, $name, '', 'Redis --json'] as $words) {
    exec("$command$words 2>&1", $lines, $code);
    echo str_replace($server->folder, 'FOLDER', $lines[0]), " [$code]\n";
    $lines = [];
}
echo $show();
?>
--EXPECT--
up, 0 outages, last failure: null
down, 1 outages, last failure: "WRONGPASS invalid username-password pair or user is disabled"
down, 1 outages, last failure: "cannot connect: Connection refused (os error 111)"
bool(false)
bool(true)
bool(false)
not listed
by the store: up, 0 outages, last failure: null
not listed
Redis at FOLDER/socket: cannot connect: No such file or directory (os error 2): up, 0 outages, last failure: null
configured: up, 0 outages, last failure: null
no longer: not listed
Redis at FOLDER/socket: forgotten [0]
token-bucket: there is no server Redis at FOLDER/socket [1]
token-bucket: forget needs SERVER [2]
token-bucket: there is no server Redis [1]
not listed
