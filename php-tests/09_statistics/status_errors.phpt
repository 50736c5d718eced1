--TEST--
status(): shared memory that cannot be used stands first, in the words of the exception; prometheus() counts it, and the command fails
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require_once dirname(__DIR__) . '/base.inc';

$folder = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/status_errors';
$own = "$folder/token_bucket-" . posix_geteuid();
$user = posix_getpwuid(posix_geteuid())['name'];
register_shutdown_function(fn () => remove($folder));
$php = escapeshellarg(PHP_BINARY) . ' -n -d pcre.jit=0 ' . getenv('TEST_PHP_EXTRA_ARGS');
$code = <<<'PHP'
    try {
        var_dump((new TokenBucket(null, 'x', 5, 1))->consume());
    } catch (TokenBucket\StorageException $e) {
        echo $e->getMessage(), "\n";
    }
    $status = TokenBucket\status();
    echo array_keys($status)[1], ' ', json_encode($status['shared_memory_errors'], JSON_UNESCAPED_SLASHES), "\n";
    preg_match('/^token_bucket_shared_memory_errors (\d+)$/m', TokenBucket\prometheus(), $found);
    echo "prometheus: $found[1]\n";
    PHP;

function show(string $fault, string $directives = ''): void
{
    global $php, $code, $folder, $own, $user;
    $php_here = "$php -d token_bucket.shm_path=$folder -d token_bucket.shm_size=64K $directives";
    $command = escapeshellarg(dirname(__DIR__, 2) . '/bin/token-bucket') . " status --user $user";
    exec("$php_here $command 2>&1", $lines, $exit);
    $text = shell_exec("$php_here -r " . escapeshellarg($code) . ' 2>&1') . "status: $lines[0] [$exit]\n";
    echo "$fault:\n", str_replace([$own, $folder], ['OWN', 'FOLDER'], $text);
}

show('no folder');
mkdir($folder);
show('nothing wrong');
chmod($own, 0755);
show('a directory that others can read');
chmod($own, 0700);
foreach (['a link' => fn (string $file) => symlink('/etc/passwd', $file), 'a directory' => mkdir(...), 'a file that others can read' => fn (string $file) => touch($file) && chmod($file, 0644)] as $what => $make) {
    remove("$own/default.v13");
    $make("$own/default.v13");
    show("$what in the table's place");
}
remove("$own/default.v13");
remove("$own/.statistics.v13");
symlink('/etc/passwd', "$own/.statistics.v13");
show("a link in the statistics' place");
remove("$own/.statistics.v13");
symlink('/etc/passwd', "$own/.host.v13");
show('a link in the place of what is known of servers', '-d token_bucket.storage=redis://127.0.0.1:1');
remove($own);
touch($own);
show("a file in the directory's place");
?>
--EXPECTF--
no folder:
Cannot open the directory FOLDER for shared memory: No such file or directory (os error 2); set token_bucket.shm_path to one that exists
shared_memory_errors ["Cannot open the directory FOLDER for shared memory: No such file or directory (os error 2); set token_bucket.shm_path to one that exists"]
prometheus: 1
status: Cannot open the directory FOLDER for shared memory: No such file or directory (os error 2); set token_bucket.shm_path to one that exists [1]
nothing wrong:
bool(true)
shared_memory_errors []
prometheus: 0
status: limit                         checked       denied   would deny   degraded     exempt [0]
a directory that others can read:
Shared memory OWN is open to other users; its mode must be 0700
shared_memory_errors ["Shared memory OWN is open to other users; its mode must be 0700"]
prometheus: 1
status: Shared memory OWN is open to other users; its mode must be 0700 [1]
a link in the table's place:
Shared memory OWN/default.v13 is a symbolic link; remove it
shared_memory_errors ["Shared memory OWN/default.v13 is a symbolic link; remove it"]
prometheus: 1
status: Shared memory OWN/default.v13 is a symbolic link; remove it [1]
a directory in the table's place:
Cannot open shared memory OWN/default.v13: Is a directory (os error 21)
shared_memory_errors ["Cannot open shared memory OWN/default.v13: Is a directory (os error 21)"]
prometheus: 1
status: Cannot open shared memory OWN/default.v13: Is a directory (os error 21) [1]
a file that others can read in the table's place:
Shared memory OWN/default.v13 is open to other users; remove it
shared_memory_errors ["Shared memory OWN/default.v13 is open to other users; remove it"]
prometheus: 1
status: Shared memory OWN/default.v13 is open to other users; remove it [1]
a link in the statistics' place:
bool(true)
shared_memory_errors ["Shared memory OWN/.statistics.v13 is a symbolic link; remove it"]
prometheus: 1
status: Shared memory OWN/.statistics.v13 is a symbolic link; remove it [1]
a link in the place of what is known of servers:

Warning: TokenBucket::consume(): Redis at 127.0.0.1:1: cannot connect: Connection refused (os error %d); until a call succeeds, each process enforces limits by itself, for there is no shared memory: see token_bucket.shm_path in Command line code on line 2
bool(true)
shared_memory_errors ["Shared memory OWN/.host.v13 is a symbolic link; remove it"]
prometheus: 1
status: Shared memory OWN/.host.v13 is a symbolic link; remove it [1]
a file in the directory's place:
Shared memory OWN is not a directory; remove it
shared_memory_errors ["Shared memory OWN is not a directory; remove it"]
prometheus: 1
status: Shared memory OWN is not a directory; remove it [1]
