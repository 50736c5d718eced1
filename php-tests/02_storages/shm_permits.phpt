--TEST--
SharedMemoryStorage: permits of a process that has ended are free at once, however it ended; a forked child holds none of its parent's
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use TokenBucket\ConcurrencyLimit;
require dirname(__DIR__) . '/permit_process.inc';

// Ends of processes.
$endings = [
    'kill -9' => fn (PermitProcess $process) => $process->kill(),
    'SIGTERM' => fn (PermitProcess $process) => $process->kill(SIGTERM),
    'exit()' => fn (PermitProcess $process) => $process->end(),
    'a fatal error' => fn (PermitProcess $process) => $process->end('error'),
    'memory exhaustion' => fn (PermitProcess $process) => $process->end('memory'),
    'max_execution_time' => fn (PermitProcess $process) => $process->end('time'),
    'an exception' => fn (PermitProcess $process) => $process->end('throw'),
];
foreach ($endings as $what => $end) {
    $table = 'shm:ended';
    [$a, $b] = [new PermitProcess($table, 2), new PermitProcess($table, 2)];
    echo "$what: ", $a->ask_all('acquire', 'acquire', 'active'), ', ', $b->ask_all('acquire', 'active');
    $end($a);
    echo ', then ', $b->ask_all('acquire', 'acquire', 'acquire', 'active'), "\n";
    $b->end();
}

// A stopped process lives.
$limit = new ConcurrencyLimit('shm:ended', 'x', 1);
$stopped = new PermitProcess('shm:ended', 1);
$pid = (int) $stopped->ask('pid') ?: give_up('no process');
echo 'stopped: ', $stopped->ask('acquire');
posix_kill($pid, SIGSTOP);
echo ' ', json_encode([$limit->acquire(), $limit->getActive()]);
posix_kill($pid, SIGCONT);
echo ' ', $stopped->ask('renew'), "\n";
$stopped->end();

/** Runs $work in a child that ends as a script does, and waits for it. */
function in_child(callable $work): void
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        $work();
        exit;
    }
    pcntl_waitpid($pid, $status);
}

foreach (['shm:fork', 'array:'] as $dsn) {
    $limit = new ConcurrencyLimit($dsn, 'fork', 3);
    [$permit, $other] = [$limit->acquire(), $limit->acquire()];
    // The child's objects hold nothing: neither their methods, nor their destruction, nor the child's end frees them.
    in_child(function () use (&$permit, &$other, $dsn): void {
        echo "$dsn child: ", json_encode([$permit->renew(), $permit->release(), $other->renew()]);
        $permit = null;
        gc_collect_cycles();
        echo ' ', (new ConcurrencyLimit($dsn, 'fork', 3))->getActive(), "\n";
    });
    echo 'parent: ', json_encode([$limit->getActive(), $permit->renew(), $other->renew()]), "\n";
    // A child has permits of its own, and its child again.
    in_child(function () use ($limit): void {
        $own = $limit->acquire();
        echo 'child takes: ', json_encode([$own !== null, $limit->acquire(), $limit->getActive()]), "\n";
        in_child(fn () => print('grandchild: ' . json_encode([$own->renew(), $own->release(), $limit->acquire()]) . "\n"));
        echo 'child keeps: ', json_encode($own->renew()), "\n";
    });
    echo 'parent: ', json_encode([$limit->getActive(), $permit->renew(), $permit->release(), $limit->getActive()]), "\n";
    unset($permit, $other);
    echo 'in the end: ', $limit->getActive(), "\n";
}

// A parent that is killed: its permits are free at once, whether a child has used the limit or not.
foreach (['idle' => false, 'busy' => true] as $what => $uses) {
    $limit = new ConcurrencyLimit('shm:fork', "orphan-$what", 1);
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $parent = pcntl_fork();
    if ($parent === 0) {
        $permit = $limit->acquire();
        $child = pcntl_fork();
        if ($child === 0) {
            $uses && $limit->getActive();
            fwrite($theirs, pack('l', getmypid()));
            sleep(60);
        }
        sleep(60);
    }
    $child = unpack('l', fread($ours, 4))[1];
    echo "$what child: ", $limit->getActive();
    posix_kill($parent, SIGKILL);
    pcntl_waitpid($parent, $status);
    echo ' ', $limit->getActive();
    posix_kill($child, SIGKILL);
    echo ' ', comes_true(fn (): bool => $limit->getActive() === 0) ? 'free' : 'held', "\n";
}

// One of 80 holders is killed. A denied call asks about 64 of them, from a random one on: ten calls miss it once in ten million times.
[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$begin = function () use ($theirs): int {
    $pid = pcntl_fork();
    if ($pid === 0) {
        $permit = (new ConcurrencyLimit('shm:many', 'x', 80))->acquire();
        fwrite($theirs, $permit ? 'y' : 'n');
        $permit && sleep(60);
        posix_kill(posix_getpid(), SIGKILL);
    }
    return $pid;
};
$kill = function (int $pid): void {
    posix_kill($pid, SIGKILL);
    pcntl_waitpid($pid, $status);
};
for ($holders = []; count($holders) < 80; ) {
    $holders[] = $begin();
    fread($ours, 1) === 'y' || give_up('no permit');
}
foreach ([79, 0, 40, 64, 63] as $nth) {
    $kill($holders[$nth]);
    for ($calls = 0; ($next = $begin()) && fread($ours, 1) === 'n'; $calls++) {
        pcntl_waitpid($next, $status);
        $calls < 10 || give_up('never free');
    }
    $holders[$nth] = $next;
    echo 'found ';
}
array_map($kill, $holders);
echo (new ConcurrencyLimit('shm:many', 'x', 80))->getActive(), "\n";

// When the file's directory is removed, processes that have the file open still use it, and so do their children.
$folder = ini_get('token_bucket.shm_path') . '/gone';
mkdir($folder);
$code = '$limit = new TokenBucket\ConcurrencyLimit("shm:", "x", 2);
    $permit = $limit->acquire();
    exec("rm -r " . escapeshellarg($argv[1]));
    $pid = pcntl_fork();
    if ($pid === 0) { echo json_encode([$limit->acquire() !== null, $limit->getActive()]), "\n"; exit; }
    pcntl_waitpid($pid, $status);
    echo json_encode([$limit->getActive(), $permit->renew(), $permit->release(), $limit->getActive()]), "\n";';
passthru(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d token_bucket.shm_path=' . escapeshellarg($folder) . ' -r ' . escapeshellarg($code) . ' -- ' . escapeshellarg($folder));
?>
--EXPECT--
kill -9: yes yes 2, no 2, then yes yes no 2
SIGTERM: yes yes 2, no 2, then yes yes no 2
exit(): yes yes 2, no 2, then yes yes no 2
a fatal error: yes yes 2, no 2, then yes yes no 2
memory exhaustion: yes yes 2, no 2, then yes yes no 2
max_execution_time: yes yes 2, no 2, then yes yes no 2
an exception: yes yes 2, no 2, then yes yes no 2
stopped: yes [null,1] true
shm:fork child: [false,null,false] 2
parent: [2,true,true]
child takes: [true,null,3]
grandchild: [false,null,null]
child keeps: true
parent: [2,true,null,1]
in the end: 0
array: child: [false,null,false] 2
parent: [2,true,true]
child takes: [true,null,3]
grandchild: [false,null,null]
child keeps: true
parent: [2,true,null,1]
in the end: 0
idle child: 1 0 free
busy child: 1 0 free
found found found found found 0
[true,1]
[1,true,null,0]
