--TEST--
shm: a signal that interrupts the reservation of a table's space, or a write of zeros in its place, does not keep the table from being made
--SKIPIF--
<?php
exec('strace -o /dev/null -e trace=fallocate -e inject=fallocate:error=EINTR true 2>&1', $output, $status);
if ($status !== 0) {
    die('skip strace cannot be used here: ' . end($output));
}
?>
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
// Newer kernels end fallocate() on a tmpfs only for a signal that kills; older ones for any. So strace has the kernel answer as those do.
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS');
$code = 'var_dump((new TokenBucket("shm:interrupted", "x", 1, 1))->consume());';
$folder = ini_get('token_bucket.shm_path') ?: '/dev/shm';
foreach (['fallocate:error=EINTR:when=1..3', 'fallocate:error=EOPNOTSUPP -e inject=write:error=EINTR:when=1..3'] as $faults) {
    array_map(unlink(...), glob("$folder/token_bucket-*/interrupted.v*"));
    echo shell_exec("strace -o /dev/null -e trace=fallocate,write -e inject=$faults $php -r " . escapeshellarg($code) . ' 2>&1');
}
array_map(unlink(...), glob("$folder/token_bucket-*/interrupted.v*"));
?>
--EXPECT--
bool(true)
bool(true)
