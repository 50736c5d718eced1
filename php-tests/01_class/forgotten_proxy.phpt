--TEST--
A proxy that is not named, or sends another header than the one that is read, is said once in a process, in its log alone
--FILE--
<?php
require __DIR__ . '/../utils.inc';
$log = temporary_file();
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d log_errors=1 -d error_log=$log";

function run(string $code, string $option = ''): void
{
    global $php, $log;
    file_put_contents($log, '');
    echo shell_exec("$php $option -r " . escapeshellarg("use function TokenBucket\\client_address; $code")), "\n", preg_replace('/^\[.*?\] token_bucket: /m', '', file_get_contents($log));
}
$handler = 'set_error_handler(fn () => throw new Exception("a handler must not get it")); ';
foreach ([
    "['REMOTE_ADDR' => '10.0.0.5', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1']",
    "['REMOTE_ADDR' => '::1', 'HTTP_FORWARDED' => 'for=192.0.2.1'], []",
    "['REMOTE_ADDR' => 'unix:', 'HTTP_X_REAL_IP' => '192.0.2.1']",
] as $arguments) {
    run("$handler echo client_address($arguments), ' ', client_address($arguments);");
}
echo "A named one:\n";
foreach ([
    "['REMOTE_ADDR' => '10.0.0.5:4711', 'HTTP_X_REAL_IP' => '192.0.2.1'], ['10.0.0.0/8']",
    "['REMOTE_ADDR' => '', 'HTTP_FORWARDED' => 'for=192.0.2.1', 'HTTP_X_FORWARDED_FOR' => 5], ['unix:']",
    "['REMOTE_ADDR' => '203.0.113.1', 'HTTP_CF_CONNECTING_IP' => '192.0.2.1', 'HTTP_X_REAL_IP' => ''], ['203.0.113.0/24'], 'x-real-ip'",
    "['REMOTE_ADDR' => '::1', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1'], ['::1'], 'CF-Connecting-IP'",
] as $arguments) {
    run("$handler echo client_address($arguments), ' ', client_address($arguments);");
}
echo "Nothing is said of:\n";
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1'], ['10.0.0.5']);");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5', 'HTTP_X_REAL_IP' => '192.0.2.1'], ['10.0.0.5'], 'X-Real-IP');");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.6', 'HTTP_X_REAL_IP' => '192.0.2.1'], ['10.0.0.5']);");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5'], ['10.0.0.5']);");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5', 'HTTP_X_REAL_IP' => '192.0.2.1'], ['10.0.0.5']);", '-d token_bucket.warn_of_mistakes=0');
run("echo client_address(['REMOTE_ADDR' => '203.0.113.1', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1']);");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5']);");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1']);", '-d token_bucket.warn_of_mistakes=0');

?>
--EXPECT--
10.0.0.5 10.0.0.5
TokenBucket\client_address(): REMOTE_ADDR is 10.0.0.5, a private address, and the request has X-Forwarded-For, but no proxy is named, so all clients of that proxy count as one. Name it: client_address($_SERVER, ['10.0.0.5'])
::1 ::1
TokenBucket\client_address(): REMOTE_ADDR is ::1, a private address, and the request has Forwarded, but no proxy is named, so all clients of that proxy count as one. Name it: client_address($_SERVER, ['::1']), and have it send X-Forwarded-For
unix: unix:
TokenBucket\client_address(): REMOTE_ADDR has no address, and the request has X-Real-IP, but no proxy is named, so all clients of that proxy count as one. Name it: client_address($_SERVER, ['unix:']), and have it send X-Forwarded-For
A named one:
10.0.0.5 10.0.0.5
TokenBucket\client_address(): the proxy 10.0.0.5:4711 sends X-Real-IP and not X-Forwarded-For, so all its clients count as one. Have it send X-Forwarded-For, or, if it replaces X-Real-IP in every request, name that: client_address($_SERVER, [...], 'X-Real-IP')
 
TokenBucket\client_address(): the proxy unix: sends Forwarded and not X-Forwarded-For, so all its clients count as one. Have it send X-Forwarded-For
203.0.113.1 203.0.113.1
TokenBucket\client_address(): the proxy 203.0.113.1 sends CF-Connecting-IP and not x-real-ip, so all its clients count as one. Have it send x-real-ip, or, if it replaces CF-Connecting-IP in every request, name that: client_address($_SERVER, [...], 'CF-Connecting-IP')
::1 ::1
TokenBucket\client_address(): the proxy ::1 sends X-Forwarded-For and not CF-Connecting-IP, so all its clients count as one. Have it send CF-Connecting-IP, or name no header
Nothing is said of:
192.0.2.1
192.0.2.1
10.0.0.6
10.0.0.5
10.0.0.5
203.0.113.1
10.0.0.5
10.0.0.5
