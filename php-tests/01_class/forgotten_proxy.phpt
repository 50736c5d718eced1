--TEST--
A proxy that is not named is said once in a process, in its log alone, and by status() if nearly all denials are of its address
--FILE--
<?php
require __DIR__ . '/../utils.inc';
$log = tempnam(sys_get_temp_dir(), 'log');
$path = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/forgotten_proxy';
is_dir($path) || mkdir($path);
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d log_errors=1 -d error_log=$log -d token_bucket.shm_path=$path";

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
echo "Nothing is said of:\n";
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1'], ['10.0.0.5']);");
run("echo client_address(['REMOTE_ADDR' => '203.0.113.1', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1']);");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5']);");
run("echo client_address(['REMOTE_ADDR' => '10.0.0.5', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1']);", '-d token_bucket.warn_of_mistakes=0');

// Thirty visitors mistype once each, and the proxy is the one client.
$visitors = <<<'CODE'
    for ($user = 0; $user < 60; $user++) {
        $pair = TokenBucket::per(null, "login:$network user$user", 5, 300);
        (new TokenBucket\Compound(TokenBucket::per(null, "login:$network", 30, 300), $pair))->attempt();
    }
    foreach (['a', 'b', 'c'] as $client) { for ($i = 0; $i < 30; $i++) { (new TokenBucket(null, "api:$client", 1, 0.001))->consume(); } }
    echo json_encode(TokenBucket\status()['likely_mistakes']);
    CODE;
echo "status():\n";
run("\$network = '10.0.0.5'; $visitors TokenBucket\\reset_statistics();");
run("\$network = '192.0.2.1'; $visitors");
foreach (['warn_of_mistakes', 'track_identifiers'] as $directive) {
    run("\$network = '10.0.0.6'; $visitors", "-d token_bucket.$directive=0");
}
unlink($log);
?>
--EXPECT--
10.0.0.5 10.0.0.5
TokenBucket\client_address(): REMOTE_ADDR is 10.0.0.5, a private address, and the request has X-Forwarded-For, but no proxy is named, so all clients of that proxy count as one. Name it: client_address($_SERVER, ['10.0.0.5'])
::1 ::1
TokenBucket\client_address(): REMOTE_ADDR is ::1, a private address, and the request has Forwarded, but no proxy is named, so all clients of that proxy count as one. Name it: client_address($_SERVER, ['::1']), and have it send X-Forwarded-For
unix: unix:
TokenBucket\client_address(): REMOTE_ADDR has no address, and the request has X-Real-IP, but no proxy is named, so all clients of that proxy count as one. Name it: client_address($_SERVER, ['unix:']), and have it send X-Forwarded-For
Nothing is said of:
192.0.2.1
203.0.113.1
10.0.0.5
10.0.0.5
status():
["100 % of the denials of the limit \"login\" are of 10.0.0.5. If that is a proxy, all its clients count as one: name it, client_address($_SERVER, ['10.0.0.5'])"]
[]
[]
[]
