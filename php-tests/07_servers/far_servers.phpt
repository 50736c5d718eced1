--TEST--
Servers: one that is too far for the time-outs is asked about once a second, and the warning says what they must be; when the route is shorter it decides again
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=closed
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

foreach (['redis', 'memcached', SQL_SERVER] as $kind) {
    $server = new Server($kind);
    $kind === SQL_SERVER && prepared($server->dsn());
    echo $kind === SQL_SERVER ? 'MariaDB or MySQL' : $kind, "\n";
    // Redis takes one trip, the others two.
    [$time_out, $round_trip] = $kind === 'redis' ? [400, 600] : [400, 280];
    file_put_contents("$server->folder/round_trip", $round_trip);
    $port = far_server($server->port, $server->folder);
    $dsn = str_replace(":$server->port", ":$port", $server->dsn("timeout_ms=$time_out&connect_timeout_ms=5000"));
    $short = new TokenBucket($dsn, 'x', 1000, 1);
    $warnings = [];
    wait_until(function () use ($short, &$warnings): bool {
        array_push($warnings, ...warnings($short->attempt(...)));
        return preg_grep('/the round trip is/', $warnings) !== [];
    });
    echo preg_replace(['/is \d+ ms/', '/least \d+/'], ['is N ms', 'least N'], preg_grep('/the round trip is/', $warnings)[count($warnings) - 1]), "\n";
    if ($kind !== 'redis') {
        echo preg_grep('/busy/', $warnings) === [] ? 'not busy' : 'busy', "\n";
        // Calls that are not asked make no trip.
        file_put_contents("$server->folder/trips", '');
        $begin = hrtime(true);
        $calls = [];
        while (count($calls) < 200) {
            $calls[] = $short->attempt()->isDegraded();
        }
        $seconds = (hrtime(true) - $begin) / 1e9;
        echo strlen(file_get_contents("$server->folder/trips")) <= 3 * (2 + $seconds) ? 'most calls are not asked' : 'asked too often', in_array(false, $calls) ? ', but one is decided' : '', "\n";
        // A limiter that has the time is answered, and a peek, which takes one trip.
        $long = new TokenBucket(str_replace("timeout_ms=$time_out", 'timeout_ms=5000', $dsn), 'x', 1000, 1);
        echo $long->attempt()->isDegraded() ? 'degraded' : 'decided', ' with a longer time-out, ', $short->peek()->isDegraded() ? 'degraded' : 'decided', " for a peek\n";
    }
    $row = server_row($port);
    if ($kind !== 'redis') {
        echo ($row['round_trip'] ?? 0) >= 0.28 ? 'status() has the round trip' : json_encode($row), "\n";
        echo preg_match("/^token_bucket_server_round_trip_seconds\{server=\"[^\"]*:$port\"} 0\.\d+$/m", TokenBucket\prometheus()) ? 'so has Prometheus' : TokenBucket\prometheus(), "\n";
    }
    file_put_contents("$server->folder/round_trip", 0);
    wait_until(fn (): bool => !@$short->attempt()->isDegraded());
    wait_until(fn (): bool => array_sum(array_map(fn (): int => (int) $short->attempt()->isDegraded(), range(1, 20))) === 0);
    echo "decides again\n";
}
?>
--EXPECT--
redis
TokenBucket::attempt(): Redis at 127.0.0.1:PORT: no answer in time; the round trip is N ms, a call takes one: timeout_ms must be at least N; until a call succeeds, every call is denied
decides again
memcached
TokenBucket::attempt(): memcached at 127.0.0.1:PORT: the round trip is N ms, a call takes two: timeout_ms must be at least N; until then, every call is denied
not busy
most calls are not asked
decided with a longer time-out, decided for a peek
status() has the round trip
so has Prometheus
decides again
MariaDB or MySQL
TokenBucket::attempt(): MySQL at 127.0.0.1:PORT: the round trip is N ms, a call takes two: timeout_ms must be at least N; until then, every call is denied
not busy
most calls are not asked
decided with a longer time-out, decided for a peek
status() has the round trip
so has Prometheus
decides again
