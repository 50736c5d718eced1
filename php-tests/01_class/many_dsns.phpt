--TEST--
TokenBucket: a process keeps no more than 256 DSNs, prefixes and directives that a program makes up
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
// Servers that cannot be reached take the breakers of others.
run_apart(__FILE__);

function work(int $from, int $to): void
{
    for ($i = $from; $i < $to; $i++) {
        (new TokenBucket("shm:?prefix=dsn$i:", 'x', 1, 1))->consume();
        (new TokenBucket("shm:table$i", 'x', 1, 1))->consume();
        ini_set('token_bucket.prefix', "ini$i:");
        (new TokenBucket(null, 'x', 1, 1))->consume();
        @(new TokenBucket("redis://127.0.0.1:1?prefix=redis$i:", 'x', 1, 1))->consume();
        @(new TokenBucket("redis://127.0.0.1:1/$i", 'x', 1, 1))->consume();
    }
}
$files = fn (): int => count(scandir('/proc/self/fd'));
$maps = fn (): int => substr_count(file_get_contents('/proc/self/maps'), "\n");

$in_array = new TokenBucket('array:?prefix=', 'x', 2, 0.001);
var_dump($in_array->consume());
work(0, 1);
[$files_before, $maps_before] = [$files(), $maps()];
for ($most_files = $most_maps = 0, $i = 1; $i < 1_000; $i += 50) {
    work($i, $i + 50);
    $most_files = max($most_files, $files() - $files_before);
    $most_maps = max($most_maps, $maps() - $maps_before);
    array_map(unlink(...), glob(ini_get('token_bucket.shm_path') . '/*/table*'));
}
// A table of its own is one mapping; prefixes and servers have none.
echo $most_files, ' files, ', $most_maps > 100 && $most_maps < 300 ? 'few' : $most_maps, " mappings\n";
// The buckets of array: are nowhere else.
$again = new TokenBucket('array:?prefix=', 'x', 2, 0.001);
var_dump($again->consume(), $again->consume());
?>
--EXPECT--
bool(true)
0 files, few mappings
bool(true)
bool(false)
