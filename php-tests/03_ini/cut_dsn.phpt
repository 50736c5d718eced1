--TEST--
ini: a DSN that php.ini or a file of limits has cut is to be quoted; another mistake in it is reported as it is
--FILE--
<?php
require dirname(__DIR__) . '/base.inc';
$folder = temporary_folder();
$php = escapeshellarg(PHP_BINARY) . " -c $folder/php.ini " . getenv('TEST_PHP_EXTRA_ARGS') . ' -d display_errors=0 -d display_startup_errors=0 -d log_errors=0';

/** The exception of the default storage, or its DSN. */
function run(string $value): void
{
    global $folder, $php;
    file_put_contents("$folder/php.ini", "token_bucket.storage = $value\n");
    $code = 'try { new TokenBucket(null, "x", 1, 1); echo TokenBucket\status()["directives"]["token_bucket.storage"]; } catch (TokenBucket\ConfigurationException $e) { echo $e->getMessage(); }';
    // PHP itself prints what is wrong with php.ini.
    $said = preg_replace('/^ *PHP.*\n|, known are .*(?=\))/m', '', shell_exec("$php -r " . escapeshellarg($code) . ' 2>/dev/null'));
    echo "$value\n    $said\n";
}
run('redis://:pa;ss@127.0.0.1');
run('redis://user:pa(ss@127.0.0.1');
run('mysql://user:pa!ss@127.0.0.1/test');
run('redis://:12;34@127.0.0.1');
run('redis://127.0.0.1?prefix=shop:&lease=5');
run('redis://:a|b@127.0.0.1');
run('"redis://:pa;(!?ss@127.0.0.1?prefix=shop:"');
run('"redis://:pa%3F;(!ss@127.0.0.1?prefix=shop:"');
run('redis://127.0.0.1:0');
run('redis://2001:db8::1');

$limits = "$folder/limits.ini";
file_put_contents("$folder/php.ini", "token_bucket.limits = $limits\n");
file_put_contents($limits, "[login]\nlimit = 5\ninterval = 60\nstorage = redis://:pa;ss@127.0.0.1\n");
$code = 'try { TokenBucket\limiter("login", "x"); } catch (TokenBucket\ConfigurationException $e) { echo $e->getMessage(), "\n"; }';
echo str_replace($folder, '...', shell_exec("$php -r " . escapeshellarg($code)));
?>
--EXPECT--
redis://:pa;ss@127.0.0.1
    token_bucket.storage must be a storage DSN (an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes. As it is: The port in the storage DSN must be between 1 and 65535)
redis://user:pa(ss@127.0.0.1
    token_bucket.storage must be a storage DSN (an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes. As it is: The port in the storage DSN must be between 1 and 65535)
mysql://user:pa!ss@127.0.0.1/test
    token_bucket.storage must be a storage DSN (an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes. As it is: The port in the storage DSN must be between 1 and 65535)
redis://:12;34@127.0.0.1
    token_bucket.storage must be a storage DSN (an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes. As it is: The storage DSN must name a host)
redis://127.0.0.1?prefix=shop:&lease=5
    token_bucket.storage must be a storage DSN (an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes)
redis://:a|b@127.0.0.1
    token_bucket.storage must be a storage DSN (an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes. As it is: The storage DSN must begin with a scheme)
"redis://:pa;(!?ss@127.0.0.1?prefix=shop:"
    token_bucket.storage must be a storage DSN (The user, password and parameters in the storage DSN must be percent-encoded: "?" is %3F, "@" is %40)
"redis://:pa%3F;(!ss@127.0.0.1?prefix=shop:"
    redis://***@127.0.0.1?prefix=shop:
redis://127.0.0.1:0
    token_bucket.storage must be a storage DSN (The port in the storage DSN must be between 1 and 65535)
redis://2001:db8::1
    token_bucket.storage must be a storage DSN (The port in the storage DSN must be between 1 and 65535; an IPv6 address stands in brackets)
token_bucket.limits: .../limits.ini: line 4: storage: an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes. As it is: The port in the storage DSN must be between 1 and 65535
