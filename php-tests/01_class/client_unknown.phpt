--TEST--
client_network(): a client without an address is said once in a process, in its log alone; not without warn_of_mistakes
--FILE--
<?php
require __DIR__ . '/../utils.inc';
$log = temporary_file();
$code = <<<'PHP'
set_error_handler(fn () => throw new Exception('a handler must not get it'));
echo TokenBucket\client_network('192.0.2.1'), ' ';
foreach (['unix:', '', "no <b>\n", 'unix:'] as $address) echo TokenBucket\client_network($address), ' ';
PHP;
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d log_errors=1 -d error_log=$log";
foreach (['', '-d token_bucket.warn_of_mistakes=0', '-d log_errors=0'] as $option) {
    file_put_contents($log, '');
    echo shell_exec("$php $option -r " . escapeshellarg($code)), "\n", preg_replace('/^\[.*?\] /m', '', file_get_contents($log));
}
?>
--EXPECT--
192.0.2.1 unknown unknown unknown unknown 
token_bucket: TokenBucket\client_network(): "unix:" is not an address, so the client shares the identifier "unknown" with all others without one. If a proxy reaches the web server by a unix socket, name "unix:" among the trusted proxies of client_address()
192.0.2.1 unknown unknown unknown unknown 
192.0.2.1 unknown unknown unknown unknown 
