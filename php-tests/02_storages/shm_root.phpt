--TEST--
SharedMemoryStorage: root that resets or blocks a client is told once that its table is not another user's; phpinfo() names that user
--EXTENSIONS--
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can become another user');
}
?>
--FILE--
<?php
$base = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/shm_root';
is_dir($base) || mkdir($base);
chmod($base, 01777);
chmod(dirname($base), 01777);

/** Runs code in a PHP of its own, as root or as nobody. */
function run(string $title, string $code, string $options = ''): void
{
    $php = escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d log_errors=0 -d html_errors=0 ' . getenv('TEST_PHP_EXTRA_ARGS');
    $output = (string) shell_exec("$php -d token_bucket.shm_path=$GLOBALS[base] $options -r " . escapeshellarg($code));
    echo "$title:", preg_replace(['/ in Command line code on line (\d+)/', '/\b' . posix_getpwnam('nobody')['uid'] . '\b/'], ['', 'NOBODY'], rtrim($output)), "\n";
}

$as_nobody = 'posix_setuid(posix_getpwnam("nobody")["uid"]); ';
$bucket = '$bucket = TokenBucket::per(null, "login:192.0.2.1", 5, 300); ';
$info = 'ob_start(); (new ReflectionExtension("token_bucket"))->info(); echo preg_match("/^Users.*/m", ob_get_clean(), $row) ? "\n$row[0]" : "";';
run('no other table', $bucket . '$bucket->reset();');
run('nobody', $as_nobody . $bucket . '$bucket->consume(); $bucket->reset();' . $info);
run('reset', $bucket . '$bucket->reset(); $bucket->block(5); $bucket->reset();');
run('block', '(new TokenBucket\Compound(TokenBucket::per(null, "x", 5, 300)))->block(5);');
run('phpinfo()', $info);
run('other calls', $bucket . '$bucket->consume(); $bucket->refund(); $bucket->peek();');
run('other tables', 'foreach (["array:", "shm:roots"] as $dsn) { (new TokenBucket($dsn, "x"))->reset(); }');
run('switched off', $bucket . '$bucket->reset();', '-d token_bucket.warn_of_mistakes=0');
?>
--EXPECT--
no other table:
nobody:
reset:
Warning: TokenBucket::reset(): This process is root's and uses root's own table; user NOBODY has another one of this name: run as that user (sudo -u '#NOBODY')
block:
Warning: TokenBucket\Compound::block(): This process is root's and uses root's own table; user NOBODY has another one of this name: run as that user (sudo -u '#NOBODY')
phpinfo():
Users that have such a table, too => NOBODY
other calls:
other tables:
switched off:
