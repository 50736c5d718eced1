--TEST--
limiter(): what is no regular file is refused at once; a file has at most 1000 limits; no message has control characters
--EXTENSIONS--
posix
--FILE--
<?php
require dirname(__DIR__) . '/base.inc';
$folder = temporary_folder();

/** What a PHP whose directives have these values says. One that is still running after ten seconds is killed. */
function ask(string $code, string ...$directives): void
{
    $options = '';
    foreach ($directives as $name => $value) {
        $options .= ' -d ' . escapeshellarg("token_bucket.$name=\"$value\"");
    }
    $code = "try { $code; echo 'fine'; } catch (Throwable \$e) { echo get_class(\$e), ': ', \$e->getMessage(); }";
    exec('timeout -s KILL 10 ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . "$options -r " . escapeshellarg($code), $output, $status);
    $said = implode("\n", $output);
    echo str_replace($GLOBALS['folder'], 'FOLDER', $said), $status === 0 ? '' : ", status $status", preg_match('/[^ -~\n]/', $said) ? ', not printable' : '', "\n";
}

$limiter = 'TokenBucket\limiter("a", "x")';
posix_mkfifo("$folder/fifo", 0600);
ask($limiter, limits: "$folder/fifo");
ask($limiter, limits: $folder);
ask($limiter, limits: '/dev/zero');

$section = fn (int $i): string => "[limit$i]\nlimit = 5\ninterval = 60\n";
file_put_contents("$folder/many.ini", implode(array_map($section, range(1, 1_001))));
ask($limiter, limits: "$folder/many.ini");
file_put_contents("$folder/some.ini", implode(array_map($section, range(1, 1_000))));
ask($limiter, limits: "$folder/some.ini");
ask('TokenBucket\limiter("limit1000", "x")->consume()', limits: "$folder/some.ini");
ask($limiter);

echo "\n";
$consume = '(new TokenBucket(null, "x", 1, 1))->consume()';
ask($limiter, limits: "$folder/\e[31mred");
ask($consume, shm_path: "$folder/\e[31mred");
mkdir("$folder/\e[32m");
touch("$folder/\e[32m/token_bucket-" . posix_geteuid());
ask($consume, shm_path: "$folder/\e[32m");
// Servers are named in messages by their addresses.
ask($consume, storage: "redis+unix://$folder/%1b[33m?on_error=throw");
ask($consume, storage: "rediss://127.0.0.1:1?on_error=throw&ca=$folder/%1b[34m");
?>
--EXPECTF--
TokenBucket\ConfigurationException: token_bucket.limits: FOLDER/fifo: must be a regular file
TokenBucket\ConfigurationException: token_bucket.limits: FOLDER: must be a regular file
TokenBucket\ConfigurationException: token_bucket.limits: /dev/zero: must be a regular file
TokenBucket\ConfigurationException: token_bucket.limits: FOLDER/many.ini: line 3001: must have at most 1000 limits
TokenBucket\ConfigurationException: token_bucket.limits has no limit "a": must be one of limit1, limit10, limit100, limit1000, limit101, limit102, limit103, limit104, limit105, limit106, limit107, limit108, limit109, limit11, limit110, limit111, limit112, limit113, limit114, limit115, ...
fine
TokenBucket\ConfigurationException: token_bucket.limits is empty: set it in php.ini to the path of a file of limits

TokenBucket\ConfigurationException: token_bucket.limits: FOLDER/\u{1b}[31mred: No such file or directory
TokenBucket\StorageException: Cannot open the directory FOLDER/\u{1b}[31mred for shared memory: No such file or directory (os error 2); set token_bucket.shm_path to one that exists
TokenBucket\StorageException: Shared memory FOLDER/\u{1b}[32m/token_bucket-%d is not a directory; remove it
TokenBucket\StorageException: Redis at FOLDER/\u{1b}[33m: cannot connect: No such file or directory (os error 2)
TokenBucket\StorageException: Redis at 127.0.0.1:1: the TLS file FOLDER/\u{1b}[34m cannot be used: No such file or directory
