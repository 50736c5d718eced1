--TEST--
SharedMemoryStorage: with refill, 8 processes never get more than capacity + rate x time, from the first call's begin to the last one's end
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/processes.inc';

$answers = in_processes(8, function () {
    $bucket = new TokenBucket(null, 'refill', 5_000, 5_000);
    $accepted = 0;
    // It holds a second's refill: while some wait for a processor none is lost, so what is accepted comes close to the bound.
    // What a process spends before and after its calls does not count: it would raise the bound.
    $first = hrtime(true);
    for ($try = 0; $try < 200_000; $try++) {
        $accepted += (int) $bucket->consume();
    }
    return json_encode([$accepted, $first, hrtime(true)]);
});
[$accepted, $first, $last] = array_map(null, ...array_map('json_decode', $answers));
$seconds = (max($last) - min($first)) / 1e9;
$bound = floor(5_000 + 5_000 * $seconds);
echo array_sum($accepted) <= $bound ? 'bounded' : array_sum($accepted) . " accepted, $bound at most", "\n";
var_dump(array_sum($accepted) >= 5_000);
?>
--EXPECT--
bounded
bool(true)
