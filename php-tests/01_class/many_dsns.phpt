--TEST--
TokenBucket: a program that makes up DSNs and directives as it goes keeps no more of them than 256
--FILE--
<?php
function work(int $from, int $to): void
{
    for ($i = $from; $i < $to; $i++) {
        (new TokenBucket("shm:?prefix=dsn$i:", 'x', 1, 1))->consume();
        ini_set('token_bucket.prefix', "ini$i:");
        (new TokenBucket(null, 'x', 1, 1))->consume();
        @(new TokenBucket("redis://127.0.0.1:1?prefix=redis$i:", 'x', 1, 1))->consume();
    }
}
$files = fn (): int => count(scandir('/proc/self/fd'));
$maps = fn (): int => substr_count(file_get_contents('/proc/self/maps'), "\n");

[$files_before, $maps_before] = [$files(), $maps()];
for ($most_files = $most_maps = $i = 0; $i < 3_000; $i += 50) {
    work($i, $i + 50);
    $most_files = max($most_files, $files() - $files_before);
    $most_maps = max($most_maps, $maps() - $maps_before);
}
// A table for each, and a few for what all share; a file that is mapped is not open.
echo $most_files, ' files, ', $most_maps > 100 && $most_maps < 350 ? 'few' : $most_maps, " mappings\n";
?>
--EXPECT--
0 files, few mappings
