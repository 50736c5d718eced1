--TEST--
lease: no window has more hits than its limit, with several hosts, kills, pauses and refunds, on every kind of store on servers
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

const LIMIT = 400;
const LEASE = 50;
/** Of a window. */
const INTERVAL = 0.8;

/** Runs workers of several hosts, each with tables of its own, for so many windows. Returns the hits of each. */
function hits(string $server, int $hosts, int $workers, int $count, ?callable $meanwhile = null): array
{
    // A batch that a killed worker has asked for is waited for with half of a call's time.
    $dsn = with(server_dsn($server), 'lease=' . LEASE . '&timeout_ms=300&connect_timeout_ms=300&on_error=throw&prefix=' . bin2hex(random_bytes(8)) . ':');
    $processes = $files = $lines = [];
    $begin = hrtime(true) + 300_000_000;
    for ($host = 0; $host < $hosts; $host++) {
        $folder = ini_get('token_bucket.shm_path') . '/lease-' . bin2hex(random_bytes(4));
        mkdir($folder);
        for ($worker = 0; $worker < $workers; $worker++) {
            $command = 'exec ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$folder " . escapeshellarg(__DIR__ . '/lease_window_host.inc')
                . ' ' . escapeshellarg($dsn) . ' ' . LIMIT . ' ' . INTERVAL . " $count $begin " . ($files[] = "$folder/log.$worker") . ' ' . count($files);
            touch("$folder/log.$worker");
            $processes[] = proc_open($command, [['file', '/dev/null', 'r']], $pipes);
        }
    }
    $meanwhile && $meanwhile($processes);
    array_map(proc_close(...), $processes);
    foreach ($files as $file) {
        foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
            [$before, $after, $ends, $hits] = array_map(intval(...), explode(' ', $line));
            // The end of a window is known as well as the time of its call. Windows end at least an interval apart.
            $after - $before < INTERVAL * 1e9 / 4 && $lines[] = [$ends, $hits];
            $ends > $before || print("handed out after the window\n");
        }
    }
    sort($lines);
    [$windows, $last] = [[], 0];
    foreach ($lines as [$ends, $hits]) {
        if ($ends - $last > INTERVAL * 1e9 / 2) {
            $windows[] = 0;
            $last = $ends;
        }
        $windows[count($windows) - 1] += $hits;
    }
    return $windows;
}

function judge(string $what, array $windows): void
{
    echo "$what: ", max($windows) <= LIMIT && array_sum($windows) > LIMIT ? 'never more' : json_encode($windows), "\n";
}

foreach ([['TB_REDIS', 2], ['TB_REDIS', 6], ['TB_MEMCACHED', 2], ['TB_MARIADB', 2], ['TB_MYSQL', 2]] as [$server, $hosts]) {
    judge("$server, $hosts hosts", hits($server, $hosts, 2, 2));
}
// Workers that are killed or paused: what they had fetched is lost or given out, never both.
foreach (['TB_REDIS', 'TB_MEMCACHED', 'TB_MARIADB'] as $server) {
    foreach (['killed' => [SIGKILL, 15_000], 'paused' => [SIGSTOP, 150_000]] as $what => [$signal, $for]) {
        judge("$server, $what", hits($server, 2, 4, 3, function (array $processes) use ($signal, $for): void {
            usleep(310_000);
            for ($i = 0; $i < 12; $i++) {
                usleep(60_000);
                $pid = proc_get_status($processes[$i % 6])['pid'];
                posix_kill($pid, $signal);
                usleep($for);
                posix_kill($pid, SIGCONT);
            }
        }));
    }
}
?>
--EXPECT--
TB_REDIS, 2 hosts: never more
TB_REDIS, 6 hosts: never more
TB_MEMCACHED, 2 hosts: never more
TB_MARIADB, 2 hosts: never more
TB_MYSQL, 2 hosts: never more
TB_REDIS, killed: never more
TB_REDIS, paused: never more
TB_MEMCACHED, killed: never more
TB_MEMCACHED, paused: never more
TB_MARIADB, killed: never more
TB_MARIADB, paused: never more
