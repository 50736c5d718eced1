--TEST--
lease: a refund, a reset or a block by another host lets no more through, while this one holds tokens; nothing goes back to another state
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

const LEASE = 50;
/** A host: a process with tables of its own. */
function host(string $dsn): Closure
{
    mkdir($folder = ini_get('token_bucket.shm_path') . '/lease-' . bin2hex(random_bytes(4)));
    $command = 'exec ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$folder -d token_bucket.deny_cache=0"
        . ' -d token_bucket.warn_of_mistakes=0 ' . escapeshellarg(__DIR__ . '/lease_other_host.inc') . ' ' . escapeshellarg($dsn);
    $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $pipes);
    return function (...$call) use ($pipes, $process): mixed {
        fwrite($pipes[0], json_encode($call) . "\n");
        return json_decode(fgets($pipes[1]));
    };
}

$keys = [];
foreach (race_dsns() as $name => $dsn) {
    $dsn = with($dsn, 'lease=' . LEASE . '&timeout_ms=5000&connect_timeout_ms=5000&on_error=throw&prefix=' . bin2hex(random_bytes(8)) . ':');
    [$a, $b] = [host($dsn), host($dsn)];
    foreach (['bucket', 'fixed', 'calendar'] as $kind) {
        // Host a takes 125 of 400, the last ten with decisions, and holds more. Then host b gives back more than all, resets or blocks.
        foreach (['refund', 'reset', 'block'] as $what) {
            $a('take', $kind, $what, 115);
            $a('attempt', $kind, $what, 10);
            ($ahead = 275 - $b('left', $kind, $what, 0)) > 20 || print("$name, $kind: $ahead ahead\n");
            $b($what, $kind, $what, $what === 'block' ? 1 : 1_000);
            $keys[] = ["$name, $kind, $what", $a, $b, $kind, $what, $ahead];
        }
        // What a holds of a state that was reset it may hand out for a second. Its lease takes no more.
        $a('take', $kind, 'at once', 125);
        $ahead = 275 - $b('left', $kind, 'at once', 0);
        $b('reset', $kind, 'at once', 0);
        $taken = $b('take', $kind, 'at once', 300) + $a('take', $kind, 'at once', 500);
        $taken <= 400 + $ahead || print("$name, $kind, at once: $taken, $ahead ahead\n");
    }
}
// By this host's clock the leases end after a second, and by the servers' the blocks.
usleep(1_200_000);
foreach ($keys as [$name, $a, $b, $kind, $what, $ahead]) {
    $taken = $b('take', $kind, $what, 200);
    // What a has left of its lease goes back to no state that was reset or blocked, nor does what its calls did not need of a window.
    $taken += $a('take', $kind, $what, 10);
    $settled = $what === 'reset' && $kind !== 'bucket' ? $a('settle', $kind, $what, 0) : 0;
    $taken += $b('take', $kind, $what, 500) + $a('take', $kind, $what, 100);
    // A refund gives back what calls have used, but for the batch of which the server does not know how much that is.
    $least = $what === 'refund' ? 400 - LEASE : 400;
    $taken <= 400 && $taken >= $least && $settled === 0 || print("$name: $taken of 400, $settled settled, $ahead ahead\n");
}
echo count(race_dsns()) > 4 ? 'all stores' : 'few stores', "\n";
?>
--EXPECT--
all stores
