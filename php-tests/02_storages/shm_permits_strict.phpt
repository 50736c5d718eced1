--TEST--
SharedMemoryStorage: 8 processes, 150 of them killed at any moment, never hold more permits than the limit, and leave none behind
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
/*
 * Each process notes the time when it has a permit, and the time before it gives it back. A process that is killed had its
 * permit until the kill at least, whose time the test notes before it kills. A permit may be had without a note yet, never
 * the other way round.
 */
require_once dirname(__DIR__) . '/base.inc';
use TokenBucket\ConcurrencyLimit;

const LIMIT = 3;
const PROCESSES = 8;
const KILLS = 150;

$log = temporary_file();

function worker(string $log, int $number): int
{
    $pid = pcntl_fork();
    if ($pid !== 0) {
        return $pid;
    }
    seed_chance($number);
    $file = fopen($log, 'ab');
    stream_set_write_buffer($file, 0);
    $limit = new ConcurrencyLimit('shm:strict', 'strict', LIMIT);
    for ($pid = getmypid(), $n = 0; ; $n++) {
        $permit = $limit->acquire();
        if ($permit === null) {
            $n % 50 || usleep(100);
            continue;
        }
        fwrite($file, pack('Pla', hrtime(true), $pid, '+'));
        for ($until = hrtime(true) + mt_rand(0, 200_000); hrtime(true) < $until;) {
        }
        $permit->renew();
        fwrite($file, pack('Pla', hrtime(true), $pid, '-'));
        // Given back by release(), by its destruction, or both.
        $n % 2 && $permit->release();
        $permit = null;
    }
}

$workers = $killed_at = [];
$number = 0;
seed_chance();
for ($killed = 0; $killed < KILLS; $killed++) {
    while (count($workers) < PROCESSES) {
        $workers[] = worker($log, ++$number);
    }
    usleep(mt_rand(0, 8_000));
    $victim = array_splice($workers, mt_rand(0, PROCESSES - 1), 1)[0];
    $killed_at[] = [hrtime(true), $victim];
    posix_kill($victim, SIGKILL);
    pcntl_waitpid($victim, $status);
}
foreach ($workers as $pid) {
    $killed_at[] = [hrtime(true), $pid];
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
}

$holds = $events = [];
foreach (str_split(file_get_contents($log), 13) as $record) {
    ['at' => $at, 'pid' => $pid, 'what' => $what] = unpack('Pat/lpid/awhat', $record);
    $events[] = [$at, $what, $pid];
}
foreach ($killed_at as [$at, $pid]) {
    $events[] = [$at, 'x', $pid];
}
// Of the same time: those that give back first, which is in favour of the limit.
usort($events, fn (array $a, array $b): int => [$a[0], $a[1] === '+'] <=> [$b[0], $b[1] === '+']);
$most = $taken = $killed_inside = 0;
$dead = [];
foreach ($events as [$at, $what, $pid]) {
    // A process may have taken one more between the note of its kill and the kill, and had it for no known time.
    if ($what === '+' && !isset($dead[$pid])) {
        $holds[$pid] = true;
        $taken++;
    } elseif ($what !== '+') {
        $killed_inside += (int) ($what === 'x' && isset($holds[$pid]));
        unset($holds[$pid]);
        $what === 'x' && $dead[$pid] = true;
    }
    $most = max($most, count($holds));
}
$limit = new ConcurrencyLimit('shm:strict', 'strict', LIMIT);
$free = array_filter([$limit->acquire(), $limit->acquire(), $limit->acquire(), $limit->acquire()]);
foreach ([
    'there was a load' => $taken > 1_000,
    'holders were killed' => $killed_inside > 20,
    'the limit was reached' => $most === LIMIT,
    'all are free at once' => count($free) === LIMIT,
] as $claim => $is_so) {
    echo $claim, ': ', $is_so ? 'yes' : "no, $taken taken, $killed_inside killed inside, $most at once, " . count($free) . ' free', "\n";
}
?>
--EXPECT--
there was a load: yes
holders were killed: yes
the limit was reached: yes
all are free at once: yes
