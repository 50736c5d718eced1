--TEST--
SharedMemoryStorage: another user's file or directory in the table's place is refused at once and left unchanged; another user sees nothing of a table
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can be two users');
}
?>
--FILE--
<?php
/* The attacker is "nobody", PHP runs as "www-data", and both may write into the folder as all may into /dev/shm. */
$folder = sys_get_temp_dir() . '/token_bucket-squatted.' . bin2hex(random_bytes(6));
mkdir($folder);
chmod($folder, 01777);
preg_match('~ (/\S*token_bucket\S*\.so)$~m', file_get_contents('/proc/self/maps'), $found);
// PHP and the extension may be in a home that others see nothing of.
foreach (['token_bucket.so' => $found[1], 'php' => PHP_BINARY] as $name => $file) {
    copy($file, "$folder/$name");
    chmod("$folder/$name", 0755);
}
$victim = posix_getpwnam('www-data')['uid'];
$own = "$folder/token_bucket-$victim";

function as_user(string $user, string $command): string
{
    $group = posix_getpwnam($user)['gid'];
    return trim((string) shell_exec("timeout 20 setpriv --reuid $user --regid $group --clear-groups sh -c " . escapeshellarg("$command 2>&1")));
}

/** What PHP says, as www-data: a bucket of one, twice. */
function victim(string $dsn = 'shm:'): string
{
    global $folder, $victim;
    $code = 'try { foreach ([1, 2] as $i) { echo (int) @(new TokenBucket($argv[1], "x", 1, 0.0001))->consume(), " "; } } catch (TokenBucket\StorageException $e) { echo $e->getMessage(); }';
    $php = "$folder/php -n -d extension=$folder/token_bucket.so -d token_bucket.shm_path=$folder -r ";
    return str_replace([$folder, (string) $victim], ['FOLDER', 'UID'], as_user('www-data', $php . escapeshellarg($code) . ' ' . escapeshellarg($dsn)));
}

as_user('www-data', "mkdir -m 700 $folder/elsewhere");
foreach ([
    'a directory' => "mkdir $own",
    'open to all' => "mkdir $own && chmod 777 $own",
    'a link to one of the victim' => "ln -s $folder/elsewhere $own",
    'a link to nowhere' => "ln -s $folder/nowhere $own",
    'a file' => "touch $own",
    'a FIFO' => "mkfifo $own",
] as $what => $command) {
    as_user('nobody', $command);
    $before = shell_exec("ls -lAR --full-time $folder");
    echo $what, ': ', victim(), "\n";
    $before === shell_exec("ls -lAR --full-time $folder") || print("something was changed\n");
    as_user('nobody', "rm -rf $own");
}
// What is the user's own, but no table.
foreach (['a FIFO' => 'mkfifo -m 600', 'a directory' => 'mkdir', 'a link' => 'ln -s /etc/passwd'] as $what => $make) {
    as_user('www-data', "mkdir -p -m 700 $own; rm -rf $own/default.v13; $make $own/default.v13");
    echo "$what for a file: ", victim(), "\n";
}
as_user('www-data', "rm -rf $own/default.v13");

// A server that is down, and no shared memory to fall back on: each process for itself.
as_user('www-data', "rm -rf $own");
as_user('nobody', "mkdir $own");
echo 'fallback: ', victim('redis://127.0.0.1:1'), ', ', victim('redis://127.0.0.1:1'), "\n";
as_user('nobody', "rmdir $own");

// Once there is a table nobody else gets at it, or takes its name away.
echo 'without him: ', victim(), "\n";
foreach (["cat $own/default.v13", "ls $own", "rm -rf $own", "mv $own $folder/other", "ln $own/default.v13 $folder/hard"] as $command) {
    echo str_contains(as_user('nobody', $command), 'ermi') ? 'refused' : "$command: done", "\n";
}
echo 'and still: ', victim(), "\n";

// Each table has a secret of its own, by which its keys are placed.
victim('shm:other');
$secrets = array_map(fn (string $file): string => file_get_contents("$own/$file.v13", offset: 64, length: 16), ['default', 'other']);
echo strlen($secrets[0]), ' bytes, ', $secrets[0] === $secrets[1] || trim($secrets[0], "\0") === '' ? 'the same' : 'different', "\n";
exec('rm -rf ' . escapeshellarg($folder));
?>
--EXPECTF--
a directory: Shared memory FOLDER/token_bucket-UID belongs to user %d; remove it
open to all: Shared memory FOLDER/token_bucket-UID belongs to user %d; remove it
a link to one of the victim: Shared memory FOLDER/token_bucket-UID is not a directory; remove it
a link to nowhere: Shared memory FOLDER/token_bucket-UID is not a directory; remove it
a file: Shared memory FOLDER/token_bucket-UID is not a directory; remove it
a FIFO: Shared memory FOLDER/token_bucket-UID is not a directory; remove it
a FIFO for a file: Shared memory FOLDER/token_bucket-UID/default.v13 is not a regular file; remove it
a directory for a file: Cannot open shared memory FOLDER/token_bucket-UID/default.v13: Is a directory (os error 21)
a link for a file: Shared memory FOLDER/token_bucket-UID/default.v13 is a symbolic link; remove it
fallback: 1 0, 1 0
without him: 1 0
refused
refused
refused
refused
refused
and still: 0 0
16 bytes, different
