--TEST--
statistics(): repeated removal of the file leaks no descriptor and no mapping; every process finds the new file
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function TokenBucket\statistics;
require dirname(__DIR__) . '/utils.inc';
run_apart(__FILE__);

$remove = fn () => array_map(unlink(...), glob(ini_get('token_bucket.shm_path') . '/*/.statistics.*'));
$files = fn (): int => count(scandir('/proc/self/fd'));
$maps = fn (): int => substr_count(file_get_contents('/proc/self/maps'), "\n");
$bucket = new TokenBucket('array:', 'again:x', 1, 0.001);
$count = function (int $calls) use ($bucket): void {
    for ($i = 0; $i < $calls; $i++) {
        $bucket->consume();
    }
};
$count(2_000);
[$files_before, $maps_before] = [$files(), $maps()];
for ($i = 0; $i < 200; $i++) {
    $remove();
    $count(1_100);
}
// An allocator maps some memory meanwhile; a leak would be of 200.
echo $files() - $files_before, ' files, ', $maps() - $maps_before < 20 ? 'no' : $maps() - $maps_before, " mappings more\n";

// Two processes, one call each in turn: each looks after a number of calls of its own.
$remove();
$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$pid = pcntl_fork();
[$mine, $other] = $pid === 0 ? $pair : array_reverse($pair);
for ($i = 0; $i < 3_000; $i++) {
    if ($pid !== 0) {
        $count(1);
        fwrite($mine, '.');
        fread($mine, 1);
    } else {
        fread($mine, 1);
        $count(1);
        fwrite($mine, '.');
    }
}
if ($pid === 0) {
    posix_kill(getmypid(), SIGKILL);
}
pcntl_waitpid($pid, $status);
$counted = statistics()['again']['checked'];
echo $counted > 6_000 - 2 * 1_100 ? 'counted' : "only $counted counted", "\n";
?>
--EXPECT--
0 files, no mappings more
counted
