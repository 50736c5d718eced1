<?php
/*
 * Fibers of an event loop, Revolt's, on shared memory, on a server that hangs, and on a storage written in PHP that suspends.
 * Usage: revolt.php FOLDER    the folder of Revolt's classes
 */
use Revolt\EventLoop;

require "$argv[1]/Revolt/EventLoop/autoload.php";
require dirname(__DIR__, 3) . '/php-tests/servers.inc';
require dirname(__DIR__, 3) . '/php-tests/02_storages/php_storage.inc';

function check(bool $holds, string $claim, mixed $found = null): void
{
    $holds || give_up("FAILED: $claim: " . json_encode($found));
    echo "  $claim\n";
}

/** Lets other fibers go on for some time. */
function pause(float $seconds): void
{
    $suspension = EventLoop::getSuspension();
    EventLoop::delay($seconds, fn () => $suspension->resume());
    $suspension->suspend();
}

/** Runs so many fibers to their end. */
function fibers(int $count, Closure $work): void
{
    for ($i = 0; $i < $count; $i++) {
        EventLoop::queue($work, $i);
    }
    EventLoop::run();
}

$accepted = 0;
fibers(1_000, function (int $i) use (&$accepted): void {
    pause($i % 10 / 1_000);
    $bucket = new TokenBucket('shm:revolt', 'fibers ' . getmypid(), 100, 1e-6);
    $accepted += (int) $bucket->consume();
});
check($accepted === 100, '1000 fibers, a bucket of 100 in shared memory: 100 accepted', $accepted);

$limit = new TokenBucket\ConcurrencyLimit('shm:revolt', 'permits ' . getmypid(), 3, 60);
$inside = $most = $served = 0;
fibers(300, function (int $i) use ($limit, &$inside, &$most, &$served): void {
    while (($permit = $limit->acquire()) === null) {
        pause(0.001);
    }
    $most = max($most, ++$inside);
    pause(0.001);
    $inside--;
    $served++;
    // The object's end gives the permit back.
});
check([$most, $served, $limit->getActive()] === [3, 300, 0], '300 fibers, at most 3 at once; no permit is left', [$most, $served, $limit->getActive()]);

$storage = new class extends MemoryStorage {
    public int $switches = 0;

    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        $this->switches++;
        pause(0.001);
        return parent::consume($identifier, $microtime, $full_microtime, $bootstrap_closure);
    }
};
$shared = new TokenBucket($storage, 'suspends', 20, 1e-6);
$accepted = 0;
fibers(100, function (int $i) use ($storage, $shared, &$accepted): void {
    $bucket = $i % 2 ? $shared : new TokenBucket($storage, 'suspends', 20, 1e-6);
    $accepted += (int) $bucket->consume();
});
check([$accepted, $storage->switches] === [20, 100], '100 fibers, a storage in PHP that suspends, a bucket of 20: 20 accepted', [$accepted, $storage->switches]);

// A server that accepts connections and never answers. It notes each.
$notes = tempnam(sys_get_temp_dir(), 'revolt');
$port = strange_server(function ($client) use ($notes): void {
    static $kept = [];
    $kept[] = $client;
    file_put_contents($notes, '.', FILE_APPEND);
});
$bucket = new TokenBucket("redis://127.0.0.1:$port?on_error=open", 'hangs', 10, 1);
[$longest, $last, $begun, $answered] = [0, hrtime(true), hrtime(true), 0];
$ticks = EventLoop::repeat(0.001, function () use (&$longest, &$last): void {
    [$now, $before] = [hrtime(true), $last];
    [$longest, $last] = [max($longest, $now - $before), $now];
});
set_error_handler(fn (): bool => true);
for ($i = 0; $i < 200; $i++) {
    EventLoop::queue(function () use ($bucket, $ticks, &$answered): void {
        $bucket->consume();
        pause(0.01);
        $bucket->consume();
        ++$answered === 200 && EventLoop::cancel($ticks);
    });
}
EventLoop::run();
$seconds = (hrtime(true) - $begun) / 1e9;
$connections = strlen(file_get_contents($notes));
unlink($notes);
// A host asks a server that is down once a second. Each time the loop stands still for the budget, 150 ms by default.
check($answered === 200 && $connections >= 1 && $connections <= 1 + ceil($seconds), "400 calls on a server that hangs: $connections waited; the loop stood still for " . round($longest / 1e6) . ' ms at most', [$answered, $connections, $seconds]);
echo 'Revolt on PHP ', PHP_VERSION, ": exact counts in 1000 fibers, permits, storages in PHP that suspend\n";
