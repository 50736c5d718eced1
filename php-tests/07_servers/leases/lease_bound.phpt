--TEST--
lease: hosts with leases never hand out more than capacity + rate x time in all, and in any stretch hosts x lease more; kills, pauses and refunds double nothing
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

const SECONDS = 0.6;

/** Runs workers of several hosts, each with tables of its own. Returns what was handed out: [before, after, tokens], by time. */
function hand_out(string $dsn, int $hosts, int $workers, int $capacity, float $rate, ?callable $meanwhile = null): array
{
    $processes = $files = $log = [];
    $begin = hrtime(true) + 300_000_000;
    for ($host = 0; $host < $hosts; $host++) {
        $folder = ini_get('token_bucket.shm_path') . '/lease-' . bin2hex(random_bytes(4));
        mkdir($folder);
        for ($worker = 0; $worker < $workers; $worker++) {
            $command = 'exec ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$folder " . escapeshellarg(__DIR__ . '/lease_host.inc')
                . ' ' . escapeshellarg($dsn) . " $capacity $rate " . SECONDS . " $begin " . ($files[] = "$folder/log.$worker") . ' ' . count($files);
            $processes[] = proc_open($command, [['file', '/dev/null', 'r']], $pipes);
        }
    }
    $meanwhile && $meanwhile($processes, $files);
    array_map(proc_close(...), $processes);
    foreach ($files as $file) {
        foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
            $log[] = array_map(intval(...), explode(' ', $line));
        }
    }
    usort($log, fn (array $a, array $b): int => $a[1] <=> $b[1]);
    return $log;
}

/** How many tokens were handed out beyond the two bounds, at most; 0 if none. */
function beyond(array $log, int $capacity, float $rate, int $spare): array
{
    $total = $level = 0.0;
    $beyond = [0.0, 0.0];
    // A call decides between its beginning and its end: the sum of one may count the time that it took.
    $first = min(array_column($log, 0));
    $last = $first;
    foreach ($log as [$before, $after, $tokens]) {
        $total += $tokens;
        $beyond[0] = max($beyond[0], $total - $capacity - $rate * ($after - $first) / 1e9);
        $level = max(0.0, $level - $rate * ($after - $last) / 1e9) + $tokens;
        $last = $after;
        $beyond[1] = max($beyond[1], $level - $capacity - $spare - $rate * ($after - $before) / 1e9);
    }
    return array_map(fn (float $tokens): float => max(0, round($tokens)), $beyond);
}

const LEASE = 50;
/** Another bucket each time: the keys of a prefix of its own. */
$dsn = fn (string $server): string => with(server_dsn($server), 'lease=' . LEASE . '&timeout_ms=5000&connect_timeout_ms=5000&on_error=throw&prefix=' . bin2hex(random_bytes(8)) . ':');
foreach ([['TB_REDIS', 2], ['TB_REDIS', 8], ['TB_MEMCACHED', 2], ['TB_MARIADB', 2], ['TB_MYSQL', 2]] as [$server, $hosts]) {
    // Without refill each token is given out once, but for those that hosts hold at the end.
    $all = str_starts_with($server, 'TB_M') ? 4_000 : 10_000;
    $tokens = array_sum(array_column(hand_out($dsn($server), $hosts, 2, $all, 0.001), 2));
    echo "$server, $hosts hosts: ", $tokens <= $all && $tokens >= $all - $hosts * LEASE ? 'each token once' : "$tokens of $all";
    // With refill, where tokens are scarce most of the time.
    [$capacity, $rate] = [400, 2_000.0];
    $log = hand_out($dsn($server), $hosts, 2, $capacity, $rate);
    echo ', with refill ', json_encode(beyond($log, $capacity, $rate, $hosts * LEASE)), " beyond\n";
}

// Workers that are killed or paused: what they had fetched is lost or given out, never both.
foreach (['TB_REDIS', 'TB_MARIADB'] as $server) {
    foreach (['killed' => SIGKILL, 'paused' => SIGSTOP] as $what => $signal) {
        $log = hand_out($dsn($server), 2, 4, 40_000, 0.001, function (array $processes, array $files) use ($signal): void {
            wait_until(fn (): bool => array_filter($files, file_exists(...)) === $files); // all have begun
            for ($i = 0; $i < 12; $i++) {
                usleep(15_000);
                $pid = proc_get_status($processes[$i % 6])['pid'];
                posix_kill($pid, $signal);
                usleep(15_000);
                posix_kill($pid, SIGCONT);
            }
        });
        $tokens = array_sum(array_column($log, 2));
        echo "$server, $what: ", $tokens <= 40_000 ? 'no token twice' : "$tokens of 40,000", "\n";
    }
}
?>
--EXPECT--
TB_REDIS, 2 hosts: each token once, with refill [0,0] beyond
TB_REDIS, 8 hosts: each token once, with refill [0,0] beyond
TB_MEMCACHED, 2 hosts: each token once, with refill [0,0] beyond
TB_MARIADB, 2 hosts: each token once, with refill [0,0] beyond
TB_MYSQL, 2 hosts: each token once, with refill [0,0] beyond
TB_REDIS, killed: no token twice
TB_REDIS, paused: no token twice
TB_MARIADB, killed: no token twice
TB_MARIADB, paused: no token twice
