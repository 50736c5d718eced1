--TEST--
statistics(): counts of 8 processes are exact, with killed processes, failing servers and evicted buckets
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.connect_timeout_ms=20000
--FILE--
<?php
use function TokenBucket\statistics;
require dirname(__DIR__) . '/processes.inc';
require dirname(__DIR__) . '/utils.inc';
run_apart(__FILE__);

// The parent has counted before it forks: its children count on.
$bucket = new TokenBucket(null, 'many:x', 1_001, 0.00001);
$bucket->consume();
in_processes(8, function () use ($bucket) {
    for ($try = 0; $try < 1_000; $try++) {
        $bucket->consume();
        (new TokenBucket(null, 'many:y', 1_000, 0.00001))->consume();
    }
});
['many' => $row] = statistics();
ksort($row['most_denied']);
echo implode(' ', array_slice($row, 0, 7)), ' ', implode(' ', array_keys($row['most_denied'])), "\n";

// A server that is not there: the first call finds out, the policy answers all.
$port = free_port();
foreach (['fallback' => 'instead', 'throw' => 'thrown'] as $policy => $name) {
    $bucket = new TokenBucket("redis://127.0.0.1:$port?on_error=$policy&prefix=$policy", 'x', 2, 0.001, name: $name);
    for ($try = 0; $try < 4; $try++) {
        try {
            @$bucket->consume();
        } catch (TokenBucket\StorageException) {
        }
    }
    echo implode(' ', array_slice(statistics()[$name], 0, 7)), "\n";
}

// More buckets than the smallest table holds.
$php = 'TB_APART=1 ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS')
    . ' -d token_bucket.shm_size=64K -d token_bucket.shm_path=' . ini_get('token_bucket.shm_path') . ' -r ';
passthru($php . escapeshellarg('for ($i = 0; $i < 10_000; $i++) (new TokenBucket("shm:small", "crowd:$i", 5, 0.001))->consume();'));
['crowd' => $row] = statistics();
echo $row['checked'], ' ', $row['evictions'] > 4_000 ? 'thousands pushed out' : $row['evictions'], "\n";

// A file that is removed is made anew, and nobody has to know.
array_map(unlink(...), glob(ini_get('token_bucket.shm_path') . '/*/.statistics.*'));
for ($i = 0; $i < 10_000; $i++) {
    (new TokenBucket('array:', 'again:x', 1, 0.001))->consume();
}
echo implode(' ', array_keys(statistics())), ' ', statistics()['again']['checked'] > 7_000 ? 'counted' : 'lost', "\n";
?>
--EXPECT--
16001 2001 14000 0 0 0 0 many:x many:y
4 2 2 0 1 0 4
0 0 0 0 4 0 0
10000 thousands pushed out
again counted
