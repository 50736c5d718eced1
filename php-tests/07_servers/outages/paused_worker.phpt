--TEST--
Servers: a worker that is stopped again and again opens no breaker; the other workers go on
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

const SECONDS = 2;

/** Three workers, the first of which does nothing but ask; for how much of their time the others were not answered by the server. */
function degraded(string $dsn, bool $pauses): float
{
    $pids = $pipes = [];
    for ($i = 0; $i < 3; $i++) {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $pid = pcntl_fork();
        if ($pid === 0) {
            $bucket = new TokenBucket($dsn, "x$i", 1_000_000, 1000);
            $degraded = 0;
            for ($now = hrtime(true), $end = $now + SECONDS * 1e9; $now < $end; $now = $after) {
                $is_degraded = @$bucket->attempt()->isDegraded();
                $i > 0 && usleep(1_000); // a busy machine is not what is looked for
                $after = hrtime(true);
                $degraded += $is_degraded ? $after - $now : 0;
            }
            fwrite($pair[1], (string) ($degraded / SECONDS / 1e9));
            posix_kill(getmypid(), SIGKILL); // no shutdown functions of the parent's
        }
        fclose($pair[1]);
        [$pids[], $pipes[]] = [$pid, $pair[0]];
    }
    for ($end = hrtime(true) + SECONDS * 1e9 - 5e8; $pauses && hrtime(true) < $end; usleep(420_000)) {
        posix_kill($pids[0], SIGSTOP);
        usleep(80_000);
        posix_kill($pids[0], SIGCONT);
    }
    [, $second, $third] = array_map(fn ($pipe): float => (float) stream_get_contents($pipe), $pipes);
    array_map(fn (int $pid): int => pcntl_waitpid($pid, $status), $pids);
    return max($second, $third);
}

foreach (['redis', 'memcached'] as $kind) {
    $server = new Server($kind);
    // A machine that stalls makes a server silent for a while. Then a round without pauses shows it, too.
    for ($round = 0; ; $round++) {
        $share = degraded($server->dsn(), true);
        wait_until_back(new TokenBucket($server->dsn(), 'x', 1, 1));
        if ($share < 0.1 || degraded($server->dsn(), false) > 0.1) {
            echo "$kind: the others go on\n";
            break;
        }
        if ($round === 3) {
            echo "$kind: the others are not answered for ", round(100 * $share), " % of their time\n";
            break;
        }
    }
}
?>
--EXPECT--
redis: the others go on
memcached: the others go on
