--TEST--
SharedMemoryStorage: 200 processes killed under load block no client and admit none too many
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
/*
 * Four processes at a time take from one bucket, and bring in buckets of their own, until they are
 * killed at a random moment; for each token they got they leave a byte in a file. A token may be
 * taken and its byte not yet written when the kill comes, never the other way round. In a table of
 * their own, for the new buckets are a flood to whoever shares it.
 */
require dirname(__DIR__) . '/base.inc';

const CAPACITY = 100_000_000;
const RATE = 1; // a token a second comes back: the slowest that so large a bucket may have
const KILLS = 200;

$log = temporary_file();

function worker(string $log): int
{
    $pid = pcntl_fork();
    if ($pid !== 0) {
        return $pid;
    }
    $file = fopen($log, 'ab');
    stream_set_write_buffer($file, 0);
    $bucket = new TokenBucket('shm:killed', 'killed', CAPACITY, RATE);
    for ($i = 0; ; $i++) {
        if ($bucket->consume()) {
            fwrite($file, '.');
        }
        (new TokenBucket('shm:killed', 'killed-' . getmypid() . "-$i", 1, 0.01))->consume();
    }
}

$start = hrtime(true);
pcntl_alarm(60); // a call that blocks ends the test, and fails it
$workers = [];
seed_chance();
for ($killed = 0; $killed < KILLS; $killed++) {
    while (count($workers) < 4) {
        $workers[] = worker($log);
    }
    usleep(mt_rand(0, 5_000));
    $victim = array_splice($workers, mt_rand(0, 3), 1)[0];
    posix_kill($victim, SIGKILL);
    pcntl_waitpid($victim, $status);
}
foreach ($workers as $pid) {
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}

$left = (new TokenBucket('shm:killed', 'killed', CAPACITY, RATE))->peek()->getRemainingTokens();
$used = CAPACITY - $left;
clearstatcache();
$logged = filesize($log);
$came_back = (hrtime(true) - $start) / 1e9 * RATE + 1;
foreach ([
    'there was a load' => $logged > KILLS,
    'no token was given twice' => $logged <= $used + $came_back,
    'none was lost but by those killed' => $used - $logged <= KILLS + 4,
    'the table serves on' => (new TokenBucket('shm:killed', 'killed', CAPACITY, RATE))->consume(),
] as $claim => $holds) {
    echo $claim, ': ', $holds ? 'yes' : "no, $logged logged, $used used", "\n";
}
?>
--EXPECT--
there was a load: yes
no token was given twice: yes
none was lost but by those killed: yes
the table serves on: yes
