--TEST--
ini: phpinfo() says that token_bucket.shm_size differs from the size of the existing file
--INI--
pcre.jit=0
--FILE--
<?php
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.storage=shm:info-size';
$code = '(new TokenBucket(null, "x", 1, 1))->consume(); (new ReflectionExtension("token_bucket"))->info();';
foreach (['8M', '16M', '8M'] as $size) {
    preg_match_all('/^(Size.*) => (.*)$/m', shell_exec("$php -d token_bucket.shm_size=$size -r " . escapeshellarg($code)), $found);
    echo "$size: ", implode(', ', $found[0]), "\n";
}
?>
--EXPECT--
8M: Size in bytes => 8388608
16M: Size in bytes => 8388608, Size set by token_bucket.shm_size => 16777216 (the file keeps its size; remove it to have this one)
8M: Size in bytes => 8388608
