--TEST--
ini: phpinfo() and --ri read: they make no file and no folder, on any storage, and show what is there
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
$folder = temporary_folder();
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$folder";
$files = fn (): string => implode(' ', array_map(basename(...), glob("$folder/*/*"))) ?: count(glob("$folder/*")) . ' folders';
$rows = fn (string $storage): string => implode("\n", preg_grep('/^(State|Size in|Buckets in use|Permits held|Servers that do not)/', explode("\n", shell_exec("$php -d token_bucket.storage=$storage --ri token_bucket"))));
foreach (['shm:', 'array:', 'redis://127.0.0.1:1', 'memcached://127.0.0.1:1', 'mysql://u:p@127.0.0.1:1/d'] as $storage) {
    echo "$storage\n", $rows(escapeshellarg($storage)), "\n", $files(), "\n";
}
shell_exec("$php -d token_bucket.storage=shm: -r " . escapeshellarg('TokenBucket::per(null, "x", 1, 3600)->consume();'));
echo "after a call\n", $rows('shm:'), "\n";
// A file that is no table is not replaced.
file_put_contents(glob("$folder/*/default.v*")[0], 'no table');
echo "no table\n", $rows('shm:'), "\n", file_get_contents(glob("$folder/*/default.v*")[0]), "\n";
?>
--EXPECT--
shm:
State => not made yet: the first call makes it
Permits held => 0
0 folders
array:

0 folders
redis://127.0.0.1:1
Servers that do not answer, of all storage DSNs => 0
0 folders
memcached://127.0.0.1:1
Servers that do not answer, of all storage DSNs => 0
0 folders
mysql://u:p@127.0.0.1:1/d
Servers that do not answer, of all storage DSNs => 0
0 folders
after a call
Size in bytes => 8388608
Buckets in use => 1
Permits held => 0
no table
State => not made yet: the first call makes it
Permits held => 0
no table
