--TEST--
SlidingWindow: in the log of 8 processes no stretch of an interval in shared memory has more hits than the limit, also if processes are killed
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/base.inc';
require dirname(__DIR__) . '/processes.inc';
require __DIR__ . '/sliding_race.inc';
use TokenBucket\SlidingWindow;

// An interval longer than the test: exactly the limit, however they race.
$wrong = 0;
foreach ([1, 5, 100, 1_024] as $limit) {
    for ($round = 0; $round < 10; $round++) {
        $counts = in_processes(8, function (int $process) use ($limit, $round): int {
            $window = new SlidingWindow('shm:sliding-race', "strict-$limit-$round", $limit, 3600);
            for ($accepted = $try = 0; $try < 300; $try++) {
                $accepted += (int) $window->consume();
            }
            return $accepted;
        });
        if (array_sum($counts) !== $limit) {
            $wrong++;
            echo "limit $limit, round $round: ", implode(' + ', $counts), "\n";
        }
    }
}
echo "$wrong rounds wrong\n";
echo race_for_hits('shm:sliding-race', 2), "\n";

// Processes killed at any moment: those that go on and those that come get no more, and what was not taken can be had.
$log = temporary_file();
$worker = function (int $number) use ($log): int {
    $pid = pcntl_fork();
    if ($pid === 0) {
        $file = fopen($log, 'ab');
        stream_set_write_buffer($file, 0);
        seed_chance($number);
        take_hits('shm:sliding-race', 'killed', 60, fn (int $begin, int $done) => fwrite($file, pack('qq', $begin, $done)));
        posix_kill(posix_getpid(), SIGKILL);
    }
    return $pid;
};
$workers = [];
$number = 0;
seed_chance();
for ($killed = 0; $killed < 200; $killed++) {
    while (count($workers) < 4) {
        $workers[] = $worker(++$number);
    }
    usleep(mt_rand(0, 15_000));
    $victim = array_splice($workers, mt_rand(0, 3), 1)[0];
    posix_kill($victim, SIGKILL);
    pcntl_waitpid($victim, $status);
}
foreach ($workers as $pid) {
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}
echo verdict(file_get_contents($log), 2), ', ', what_is_left('shm:sliding-race', 'killed'), "\n";
?>
--EXPECT--
0 rounds wrong
never more, many in all, all of them afterwards
never more, many in all, all of them afterwards
