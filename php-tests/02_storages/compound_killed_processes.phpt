--TEST--
Compound: a process that is killed leaves no more than its own charges behind, and admits none too many
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
/*
 * Four processes at a time take one token from each of three limits, or find that the last one denies, until they are killed at a
 * random moment; for each admitted call they leave a byte in a file. The byte may be missing, not the charge.
 */
require dirname(__DIR__) . '/base.inc';
use TokenBucket\{Compound, FixedWindow};

const CAPACITY = 10_000_000;
const KILLS = 100;

$log = temporary_file();
$limits = fn (): array => [new FixedWindow('shm:compound-killed', 'a', CAPACITY, 1e8), new FixedWindow('shm:compound-killed', 'b', CAPACITY, 1e8), new FixedWindow('shm:compound-killed', 'c', CAPACITY, 1e8)];
$toggled = fn (): FixedWindow => new FixedWindow('shm:compound-killed', 'toggled', 2, 1e8);

function worker(string $log, callable $limits, callable $toggled): int
{
    $pid = pcntl_fork();
    if ($pid !== 0) {
        return $pid;
    }
    $file = fopen($log, 'ab');
    stream_set_write_buffer($file, 0);
    [$compound, $contended] = [new Compound(...$limits()), new Compound(...$limits(), ...[$toggled()])];
    while (true) {
        if ($compound->consume()) {
            fwrite($file, '.');
        }
        // Often one of the others was faster here: then what was charged is given back.
        $contended->attempt()->refund();
    }
}

pcntl_alarm(60); // a call that blocks ends the test, and fails it
$workers = [];
seed_chance();
for ($killed = 0; $killed < KILLS; $killed++) {
    while (count($workers) < 4) {
        $workers[] = worker($log, $limits, $toggled);
    }
    usleep(mt_rand(0, 5_000));
    posix_kill($victim = array_splice($workers, mt_rand(0, 3), 1)[0], SIGKILL);
    pcntl_waitpid($victim, $status);
    // A process that is killed while it holds a hit of this one leaves it behind.
    $toggled()->reset();
}
foreach ($workers as $pid) {
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}
$admitted = filesize($log);
echo $admitted > 1_000 ? 'many' : $admitted, " admitted\n";
foreach ($limits() as $i => $limit) {
    $charged = CAPACITY - $limit->peek(0)->getRemainingTokens();
    // Of the call under way in each process that was killed.
    echo $charged >= $admitted && $charged <= $admitted + KILLS + 3 ? 'as many' : "$admitted admitted, $charged", " charged\n";
}
// The limits go on.
var_dump((new Compound(...$limits()))->consume());
?>
--EXPECT--
many admitted
as many charged
as many charged
as many charged
bool(true)
