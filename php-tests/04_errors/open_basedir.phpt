--TEST--
Exceptions: a script's DSN names files within open_basedir only, also by a link that is turned once it was checked; the message does not tell what is elsewhere. php.ini and the file of limits name any
--INI--
open_basedir={PWD}/..
token_bucket.limits={PWD}/open_basedir.limits.ini
token_bucket.storage="rediss://127.0.0.1:1?ca=/etc/passwd"
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{MysqlStorage, RedisStorage};

$here = __DIR__;
thrown(
    fn () => new RedisStorage('rediss://127.0.0.1:1?ca=/etc/passwd'),
    fn () => new RedisStorage('rediss://127.0.0.1:1?ca=/etc/not-there'),
    fn () => TokenBucket::per('rediss+cluster://127.0.0.1:1?cert=/etc/passwd&key=/etc/passwd', 'x', 5, 60),
    fn () => new MysqlStorage("mysql://me:secret@127.0.0.1:1/db?ca=$here/x.pem&cert=$here/x.pem&key=$here/../../../../etc/passwd"),
    fn () => (new RedisStorage("rediss://127.0.0.1:1?ca=$here/not-there"))::class,
    fn () => TokenBucket::per(null, 'x', 5, 60)::class,
);
file_put_contents("$here/open_basedir.limits.ini", "[far]\nlimit = 5\ninterval = 60\nstorage = \"rediss://127.0.0.1:1?ca=/etc/passwd&prefix=far\"\n");
echo TokenBucket\limiter('far', 'x')::class, "\n";
ini_set('token_bucket.storage', 'rediss://127.0.0.1:1?ca=/etc/group');
thrown(fn () => TokenBucket::per(null, 'x', 5, 60));

// Links that lead to the project's Cargo.toml once `dummy` is no link.
$folder = "$here/open_basedir";
mkdir("$folder/a/b/c/d", recursive: true);
file_put_contents("$folder/Cargo.toml", 'inside');
symlink('a/b/c/d', "$folder/dummy");
symlink('dummy/../../../../Cargo.toml', "$folder/out");
symlink('dummy/../../../../Cargo.lock', "$folder/later");
$buckets = array_map(fn (string $file) => TokenBucket::per(new RedisStorage("rediss://127.0.0.1:1?on_error=throw&ca=$folder/$file"), 'x', 5, 60), ['out', 'later']);
unlink("$folder/dummy");
mkdir("$folder/dummy");
var_dump(strlen((string) @file_get_contents("$folder/out")));
foreach ($buckets as $bucket) {
    thrown(fn () => $bucket->consume());
}
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/open_basedir.limits.ini');
exec('rm -rf ' . escapeshellarg(__DIR__ . '/open_basedir'));
?>
--EXPECTF--
TokenBucket\ConfigurationException: DSN parameter "ca" must be a file within open_basedir
TokenBucket\ConfigurationException: DSN parameter "ca" must be a file within open_basedir
TokenBucket\ConfigurationException: DSN parameter "cert" must be a file within open_basedir
TokenBucket\ConfigurationException: DSN parameter "key" must be a file within open_basedir
string(24) "TokenBucket\RedisStorage"
string(11) "TokenBucket"
TokenBucket
TokenBucket\ConfigurationException: DSN parameter "ca" must be a file within open_basedir
int(0)
TokenBucket\StorageException: Redis at 127.0.0.1:1: the TLS file %s/open_basedir/Cargo.toml cannot be used: it has no certificate
TokenBucket\StorageException: Redis at 127.0.0.1:1: the TLS file %s/open_basedir/later cannot be used: must be a regular file
