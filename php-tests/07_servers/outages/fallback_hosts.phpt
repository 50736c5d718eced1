--TEST--
on_error=fallback: while the server is down, each host enforces the limit by itself
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

/** What four workers of a host get of a bucket of five: hosts have folders of their own. */
function host(string $name, string $dsn): int
{
    $folder = ini_get('token_bucket.shm_path') . "/fallback-$name";
    @mkdir($folder);
    $code = 'for ($got = 0, $i = 0; $i < 20; $i++) { $got += (int) @(new TokenBucket($argv[1], "victim", 5, 0.0001))->consume(); } echo $got;';
    return array_sum(in_processes(4, fn (): string => (string) shell_exec(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS')
        . " -d token_bucket.deny_cache=0 -d token_bucket.shm_path=$folder -r " . escapeshellarg($code) . ' ' . escapeshellarg($dsn))));
}

$server = new Server('redis');
$dsn = $server->dsn('timeout_ms=5000');
echo 'up: ', host('a', $dsn), ' + ', host('b', $dsn), "\n";
$server->kill();
echo 'down: ', host('a', $dsn), ' + ', host('b', $dsn), ', and then ', host('a', $dsn), ' + ', host('b', $dsn), "\n";
foreach (['closed', 'open'] as $policy) {
    echo "$policy: ", host('a', "$dsn&on_error=$policy"), "\n";
}
?>
--EXPECT--
up: 5 + 0
down: 5 + 5, and then 0 + 0
closed: 0
open: 80
