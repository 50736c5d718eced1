<?php
/*
 * What the workers serve: takes `tries` tokens from a bucket, or one from each of as many new
 * buckets, and tells of each call what came of it, when, and how long it took.
 */
ini_set('log_errors', '1');
ini_set('error_log', __DIR__ . '/scratch/warnings.log');

/** Nanoseconds that this process was ready to run and had no processor. */
function queued(): int
{
    static $file;
    $file ??= fopen('/proc/self/schedstat', 'r');
    rewind($file);
    return (int) explode(' ', fread($file, 100))[1];
}

/** The sockets of this process. */
function sockets(): array
{
    $files = array_map(fn (string $file): string => (string) @readlink("/proc/self/fd/$file"), scandir('/proc/self/fd'));
    return array_values(array_filter($files, fn (string $file): bool => str_starts_with($file, 'socket:')));
}

/** @return array{int, int} the wall clock, which is that of servers, and the host's own, by which its shared memory decides */
function clocks(): array
{
    return [(int) (microtime(true) * 1e6) * 1000, hrtime(true) + (int) $_GET['offset']];
}

// The controls: a time that is only waited for, and a server that nobody stops, asked without the
// extension. What they take too long is the machine's.
if (isset($_GET['sleep'])) {
    [$queued, $start] = [queued(), hrtime(true)];
    usleep((int) $_GET['sleep']);
    $took = hrtime(true) - $start;
    echo json_encode(['sleep' => $took - (queued() - $queued)]);
    return;
}
if (isset($_GET['ping'])) {
    $start = hrtime(true);
    $server = pfsockopen('127.0.0.1', (int) $_GET['ping']);
    fwrite($server, "PING\r\n");
    fgets($server);
    echo json_encode(['ping' => hrtime(true) - $start]);
    return;
}

['dsn' => $dsn, 'id' => $id, 'tries' => $tries, 'capacity' => $capacity, 'rate' => $rate] = $_GET;
$remote = !str_starts_with($dsn, 'shm:');
$had = $remote ? sockets() : [];
$calls = [];
for ($i = 0; $i < $tries; $i++) {
    $bucket = new TokenBucket($dsn, isset($_GET['flood']) ? "$id-$i" : $id, $capacity, $rate);
    [$queued, $before, $start] = [queued(), clocks(), hrtime(true)];
    $decision = $bucket->attempt();
    [$took, $after] = [hrtime(true) - $start, clocks()];
    $queued = queued() - $queued;
    $connected = false;
    if ($remote && $took > 30_000_000) {
        // It has made a connection, or tried to: where it had none, and where an idle one gave no answer, for then a
        // new one tells whether the server is up. In a cluster, and where sentinels are asked, another server was
        // then asked where to go.
        [$has, $degraded] = [sockets(), $decision->isDegraded()];
        $asked_others = preg_match('/\+(cluster|sentinel):/', $dsn) && ($has !== $had || $degraded);
        $connected = array_diff($has, $had) || $degraded || $asked_others;
        $had = $has;
    }
    $clock = (int) (!$remote || $decision->isDegraded());
    // Servers count in microseconds: on the outer side of those.
    $calls[] = [$before[$clock] - 1_000, $after[$clock] + 1_000, $took, $queued, (int) $decision->isAccepted(), (int) $decision->isDegraded(), (int) $connected];
}
echo json_encode($calls);
