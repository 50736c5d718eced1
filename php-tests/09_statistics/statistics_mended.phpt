--TEST--
statistics(): a process that could not open shared memory counts again within a second once that is mended, however few calls it makes
--INI--
token_bucket.shm_path={PWD}/statistics_mended.tmp
token_bucket.storage=array:
--FILE--
<?php
$folder = __DIR__ . '/statistics_mended.tmp';
$bucket = new TokenBucket(null, 'mended:x', 1000, 1);
for ($i = 0; $i < 3; $i++) {
    $bucket->consume();
}
mkdir($folder, 0700);
// A file is looked for by the system's clock.
for ($i = 0; $i < 14; $i++) {
    usleep(100_000);
    $bucket->consume();
}
// Another process looks: statistics() of this one would open the file.
$counted = (int) shell_exec(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d ' . escapeshellarg("token_bucket.shm_path=$folder")
    . ' -r ' . escapeshellarg('echo TokenBucket\statistics()["mended"]["checked"] ?? 0;'));
echo $counted > 0 ? 'counted' : 'none counted', "\n";
?>
--CLEAN--
<?php
shell_exec('rm -rf ' . escapeshellarg(__DIR__ . '/statistics_mended.tmp'));
?>
--EXPECT--
counted
