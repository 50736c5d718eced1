<?php
/*
 * The page that the workers serve: takes `tries` tokens from one bucket, or one token from each of `tries` new
 * buckets, and reports each call: its result, its time, how long it took, and the last warning it caused. An identifier that
 * begins with a window's word is a sliding window's, which allows its capacity in the time in which a bucket fills; with a
 * calendar's, an hour's that nobody uses up.
 *
 * With `with`, each call takes from that bucket or window, too, or from none; with `first`, from that one if the other denies.
 * With `leave`, a token stays. With `refund`, every second token is given back; with `settle`, every second call costs one token less
 * or more than its estimate. With `block`, the bucket or the window is blocked after the first call. With `permits`, a permit is taken and held for some
 * milliseconds instead, and given back by the end of the request.
 */
ini_set('log_errors', '1');
ini_set('error_log', __DIR__ . '/scratch/warnings.log');

/** Nanoseconds for which this process was ready to run and waited for a processor. */
function queued(): int
{
    static $file;
    $file ??= fopen('/proc/self/schedstat', 'r');
    rewind($file);
    return (int) explode(' ', fread($file, 100))[1];
}

/** How often this process has left its processor: a call that asks a server waits for it, or the server takes the processor. */
function pauses(): int
{
    ['ru_nvcsw' => $waits, 'ru_nivcsw' => $preemptions] = getrusage();
    return $waits + $preemptions;
}

/** The sockets of this process. */
function sockets(): array
{
    $files = array_map(fn (string $file): string => (string) @readlink("/proc/self/fd/$file"), scandir('/proc/self/fd'));
    return array_values(array_filter($files, fn (string $file): bool => str_starts_with($file, 'socket:')));
}

/** @return array{int, int} the wall clock, by which servers decide, and the clock since boot, by which shared memory decides */
function clocks(): array
{
    return [(int) (microtime(true) * 1e6) * 1000, hrtime(true) + (int) $_GET['offset']];
}

function limiter(string $id, ?string $name = null): TokenBucket\Limiter
{
    ['dsn' => $dsn, 'capacity' => $capacity, 'rate' => $rate] = $_GET;
    $word = strtok($id, ':');
    return match (true) {
        str_contains($word, 'window') => new TokenBucket\SlidingWindow($dsn, $id, $capacity, $capacity / $rate, $name),
        str_contains($word, 'calendar') => new TokenBucket\CalendarWindow($dsn, $id, 1_000_000, 'hour', name: $name),
        default => new TokenBucket($dsn, $id, $capacity, $rate, $name),
    };
}

// The controls: a sleep, and a server that is never stopped, asked without the extension. If these are late, the
// machine is the cause.
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

if (isset($_GET['permits'])) {
    $permit = (new TokenBucket\ConcurrencyLimit($_GET['dsn'], 'soak', $_GET['permits'], 2.0))->acquire((int) $_GET['leave']);
    // As many files as permits: a holder of a permit finds one that is not locked. The kernel frees a lock with its process.
    // A process that is being killed loses its permit and its lock one after the other, so the files are tried again.
    for ($try = 0, $lock = null; $permit && !$lock && $try < 5 * $_GET['permits']; $try++) {
        $file = fopen(__DIR__ . '/scratch/permit-' . md5($_GET['dsn']) . '-' . $try % $_GET['permits'], 'c');
        $lock = flock($file, LOCK_EX | LOCK_NB) ? $file : null;
        $lock || usleep(500);
    }
    $permit && usleep(mt_rand(0, 20_000));
    echo json_encode(['taken' => (int) ($permit !== null), 'crowded' => (int) ($permit && !$lock)]);
    $lock && flock($lock, LOCK_UN);
    return;
}

['dsn' => $dsn, 'id' => $id, 'tries' => $tries] = $_GET;
$remote = !str_starts_with($dsn, 'shm:');
$had = $remote ? sockets() : [];
$calls = [];
for ($i = 0; $i < $tries; $i++) {
    $bucket = limiter(isset($_GET['flood']) ? "$id-$i" : $id);
    if (isset($_GET['with'])) {
        $bucket = new TokenBucket\Compound($bucket, limiter($_GET['with']));
    }
    if (isset($_GET['first'])) {
        $bucket = new TokenBucket\FirstOf(limiter($id, '0'), limiter($_GET['first'], '1'));
    }
    $settles = isset($_GET['settle']) && $i % 2 === 0;
    $estimate = $settles && $i % 4 === 0 ? 2 : 1;
    error_clear_last();
    [$queued, $pauses, $before, $start] = [queued(), pauses(), clocks(), hrtime(true)];
    $decision = $bucket->attempt($estimate, (int) isset($_GET['leave']));
    [$took, $after] = [hrtime(true) - $start, clocks()];
    $warning = error_get_last()['message'] ?? '';
    [$queued, $pauses] = [queued() - $queued, pauses() - $pauses];
    $connected = false;
    if ($remote && $took > 30_000_000) {
        // The call made a connection or tried to: because it had none, or because an idle one gave no answer and a
        // new one has to show whether the server is up. A cluster's nodes and sentinels are asked for the server first.
        [$has, $degraded] = [sockets(), $decision->isDegraded()];
        $asked_others = preg_match('/\+(cluster|sentinel):/', $dsn) && ($has !== $had || $degraded);
        $connected = array_diff($has, $had) || $degraded || $asked_others;
        $had = $has;
    }
    $clock = (int) (!$remote || $decision->isDegraded());
    // Servers count in microseconds, so each bound is widened by one.
    $call = [$before[$clock] - 1_000, $after[$clock] + 1_000, $took, $queued, (int) $decision->isAccepted(), (int) $decision->isDegraded(), (int) $connected, $warning];
    $refunds = isset($_GET['refund']) && $i % 2 === 0 && $decision->isAccepted();
    $calls[] = [...$call, (int) $refunds, (int) ($pauses > 0), isset($_GET['first']) ? (int) ($decision->getChargedTo()[0] ?? 0) : null];
    if ($refunds) {
        $decision->refund();
    } elseif ($settles && $decision->isAccepted()) {
        $decision->settle(3 - $estimate);
    }
    if (isset($_GET['block']) && $i === 0) {
        error_clear_last();
        $bucket->block(30);
        $calls[0][7] = error_get_last()['message'] ?? $warning;
    }
    if ($remote && ($refunds || $settles || isset($_GET['block']))) {
        $had = sockets();
    }
}
echo json_encode($calls);
