--TEST--
SharedMemoryStorage: 8 processes with 2,000 tries each get exactly the capacity, in each of 50 rounds
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/processes.inc';

$wrong = 0;
for ($round = 0; $round < 50; $round++) {
    // New to the table in every round, so that the processes also race to bring it in.
    $counts = in_processes(8, function () use ($round) {
        $bucket = new TokenBucket(null, "strict-$round", 100, 0.00001);
        $accepted = 0;
        for ($try = 0; $try < 2_000; $try++) {
            $accepted += (int) $bucket->consume();
        }
        return $accepted;
    });
    if (array_sum($counts) !== 100) {
        $wrong++;
        echo 'round ', $round, ': ', implode(' + ', $counts), "\n";
    }
}
echo $wrong, " rounds wrong\n";
?>
--EXPECT--
0 rounds wrong
