--TEST--
Servers: the time-outs that docs/fleet.md names for a round trip are enough to connect and to decide
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

const WORKERS = 4;
const CALLS = 12;

/** The share of calls that are not decided by the server, and the first warning of each process. */
function degraded(string $dsn): array
{
    $results = at_once(WORKERS, fn (int $worker): callable => function () use ($dsn, $worker): array {
        [$degraded, $warning] = [0, null];
        error_clear_last();
        for ($call = 0; $call < CALLS; $call++) {
            $degraded += (int) @TokenBucket::per($dsn, "$worker $call", 1000, 1)->attempt()->isDegraded();
            $warning ??= error_get_last()['message'] ?? null;
        }
        return [$degraded, $warning];
    });
    return [array_sum(array_column($results, 0)) / (WORKERS * CALLS), implode(', ', array_column($results, 1))];
}

// | 40 ms | 150 | 300 |
preg_match_all('/^\| (?:up to )?(\d+) ms \| (?:the default: )?(\d+) \| (\d+) \|/m', file_get_contents(dirname(__DIR__, 3) . '/docs/fleet.md'), $rows, PREG_SET_ORDER);
echo implode(' ', array_column($rows, 1)), " ms\n";
foreach (['redis', 'memcached', SQL_SERVER] as $kind) {
    $server = new Server($kind);
    $kind === SQL_SERVER && prepared($server->dsn());
    $port = far_server($server->port, $server->folder);
    foreach ($rows as [, $round_trip, $timeout, $connect_timeout]) {
        file_put_contents("$server->folder/round_trip", $round_trip);
        $dsn = str_replace(":$server->port", ":$port", $server->dsn("timeout_ms=$timeout&connect_timeout_ms=$connect_timeout&prefix=$round_trip"));
        // A time-out that is too short fails nearly all of them, a busy machine a part.
        [$share, $warnings] = within_three_tries(0.5, fn (): array => degraded($dsn));
        echo $share <= 0.5 ? '' : "$kind, $round_trip ms: $share degraded: $warnings\n";
    }
    echo $kind === SQL_SERVER ? 'MariaDB or MySQL' : $kind, "\n";
}
?>
--EXPECT--
12 40 80 ms
redis
memcached
MariaDB or MySQL
