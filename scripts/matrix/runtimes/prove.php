<?php
/*
 * Proves what docs/runtimes.md promises of a runtime, over HTTP. The server is up, and serves the application in
 * application.inc.
 *
 * Usage: prove.php URL WORKERS SERVER_PID RESTART    within scripts/servers.sh
 *   WORKERS  how many workers serve many requests each; 0 if each request is one of PHP's
 *   RESTART  a command that replaces the workers while requests come
 */
require dirname(__DIR__, 3) . '/php-tests/server.inc';

[, $url, $workers, $server, $restart] = $argv;
$workers = (int) $workers;
$is_roadrunner = str_contains($restart, 'rr');

function fail(string $reason): never
{
    give_up("FAILED: $reason");
}

function check(bool $holds, string $claim, mixed $found = null): void
{
    $holds || fail("$claim: " . json_encode($found));
    echo "  $claim\n";
}

/** Sends a request without waiting for the answer. */
function begin(array $get)
{
    global $url;
    $stream = stream_socket_client(str_replace('http', 'tcp', $url), $code, $error, 30) ?: fail($error);
    fwrite($stream, 'GET /?' . http_build_query($get) . " HTTP/1.0\r\nHost: localhost\r\n\r\n");
    return $stream;
}

/** @return array{int, string} the status, 0 without an answer, and the body */
function finish($stream): array
{
    stream_set_timeout($stream, 60);
    [$head, $body] = explode("\r\n\r\n", stream_get_contents($stream), 2) + ['', ''];
    return [(int) substr($head, 9, 3), $body];
}

/** The body of an answer that must be 200. */
function get(array $get): string
{
    [$status, $body] = finish(begin($get));
    $status === 200 || fail(json_encode($get) . ": $status $body");
    return $body;
}

/** @return array{complete: int, failed: int, admitted: int} what became of so many requests, 50 at once */
function load(int $requests, string $query, string $options = ''): array
{
    global $url;
    exec("ab -q -r -s 120 $options -n $requests -c 50 '$url/?$query' 2>&1", $lines);
    $value = fn (string $name): int => preg_match("/^$name: +(\d+)/m", implode("\n", $lines), $found) ? (int) $found[1] : 0;
    return ['complete' => $value('Complete requests'), 'failed' => $value('Failed requests'), 'admitted' => $value('Complete requests') - $value('Non-2xx responses')];
}

/** The processes of the server. */
function processes(): array
{
    global $server;
    return array_map(intval(...), [$server, ...explode("\n", trim((string) shell_exec("pgrep -P $server")))]);
}

/** @return array{int, int} the server's own memory in KiB, without the tables that all map, and its descriptors */
function size(): array
{
    $size = [0, 0];
    foreach (array_filter(processes()) as $pid) {
        preg_match('/^RssAnon:\s+(\d+)/m', (string) @file_get_contents("/proc/$pid/status"), $found);
        $size[0] += (int) ($found[1] ?? 0);
        $size[1] += count(@scandir("/proc/$pid/fd") ?: []);
    }
    return $size;
}

$stores = ['shm', 'redis', 'memcached', 'mysql'];
[, , $version, $sapi] = json_decode(get(['page' => 'worker']), true);
echo "PHP $version, $sapi\n";

// A worker is one whose state lasts from request to request.
if ($workers > 0) {
    for ($i = 0; $i < 20 * $workers; $i++) {
        $requests = array_map(fn (): mixed => begin(['page' => 'worker']), range(1, 2 * $workers));
        foreach ($requests as $request) {
            [$worker, $served] = json_decode(finish($request)[1], true);
            $seen[$worker] = max($seen[$worker] ?? 0, $served);
        }
    }
    check(count($seen) >= $workers && max($seen) > 20, "worker mode: $workers workers serve many requests each", $seen);
    check(count($seen) > $workers, count($seen) . " workers in all: they begin anew", $seen);
} else {
    [, $served] = json_decode(get(['page' => 'worker']), true);
    check($served === 1, 'each request has a state of its own', $served);
}

get(['page' => 'prepare']);
foreach ($stores as $store) {
    $result = get(['page' => 'vectors', 'store' => $store]);
    $result === '55 steps' || fail("vectors on $store: $result");
}
echo "  55 steps of the conformance vectors on each of 4 stores\n";

foreach ($stores as $store) {
    $result = load(1500, "page=take&store=$store&capacity=300&id=" . bin2hex(random_bytes(4)));
    $result === ['complete' => 1500, 'failed' => 0, 'admitted' => 300] || fail("$store: " . json_encode($result));
}
echo "  exactly 300 of 1500 admitted on each of 4 stores\n";

// Permits: the notes say who was inside at once.
$endings = ['return', 'release', 'exit', 'fatal error', 'exception', 'compile error', 'memory exhaustion', 'finish', 'return'];
$kept = ['local', 'static', 'global', 'cycle'];
$requests = $hung_up = [];
for ($i = 0; $i < 200; $i++) {
    $end = match (true) {
        $i === 20, $i === 120 => 'time-out',
        $i === 60, $i === 160 => 'memory exhaustion by permits',
        $i % 20 === 7 => 'the client hangs up',
        default => $endings[$i % count($endings)],
    };
    $request = begin(['page' => 'slow', 'end' => $end, 'kept' => $kept[intdiv($i, 9) % 4]]);
    $end === 'the client hangs up' ? $hung_up[] = $request : $requests[] = $request;
}
usleep(300_000);
array_map(fclose(...), $hung_up);
array_map(finish(...), $requests);
$notes = function (): array {
    preg_match_all('/^(\d+) (\w+) ([+-]) (.*)$/m', (string) file_get_contents(getenv('TB_NOTES')), $found, PREG_SET_ORDER);
    return $found;
};
wait_until(fn (): bool => get(['page' => 'active']) === '[0,0]');
$inside = $endings = [];
$most = 0;
$all = $notes();
usort($all, fn (array $a, array $b): int => [(int) $a[1], $a[3]] <=> [(int) $b[1], $b[3]]);
foreach ($all as [, , $request, $what, $end]) {
    $inside[$request] = $what === '+';
    $endings[$end] = true;
    $most = max($most, count(array_filter($inside)));
}
// A server need not begin a request whose client has hung up.
$begun = count($inside);
check($most === 3 && $begun >= 190 && count($endings) === 11, "permits: at most 3 at once in $begun slow requests that end in " . count($endings) . ' ways; none is left', [$most, $begun, array_keys($endings)]);
// A static keeps the object of a permit that is free.
$kept_by_static = array_map(fn (): string => get(['page' => 'slow', 'end' => 'return', 'kept' => 'static']), range(1, 10));
check(get(['page' => 'active']) === '[0,0]', 'permits in statics are free as soon as the request has its answer');

if (!$is_roadrunner) {
    $clocks = array_map(fn (): string => get(['page' => 'clock']), range(1, 40));
    check(array_unique($clocks) === ['running'], 'a frozen clock is never seen in the next request', $clocks);
}

// A Redis of this test's own, which fails.
$redis = new Server('redis');
$take = fn (string $options, string $id): int => finish(begin(['page' => 'take', 'dsn' => $redis->dsn("timeout_ms=5000&connect_timeout_ms=5000&$options"), 'id' => $id, 'capacity' => 1_000]))[0];
$answers = [];
foreach (range(1, 40) as $ignored) {
    $answers[] = $take('on_error=closed', 'up');
}
$redis->kill();
foreach (range(1, 40) as $ignored) {
    $answers[] = $take('on_error=closed', 'down');
}
// A host warns once of a server: these are 30, one address each. Each second request asks a store that works.
$warnings = [];
foreach (range(1, 60) as $i) {
    [$before, , $after] = json_decode(get(['page' => 'warning', 'dsn' => $i % 2 ? "redis://127.0.1.$i:$redis->port?on_error=open" : 'shm:']), true);
    !str_contains((string) $before, 'Redis at') || fail("a warning of another request: $before");
    $warnings[] = $after !== null && str_contains($after, "Redis at 127.0.1.$i:");
}
check($warnings === array_merge(...array_fill(0, 30, [true, false])), 'an outage is reported to the request that finds it, and to no other', $warnings);
$redis->start();
wait_until(fn (): bool => $take('on_error=closed', 'up again') === 200);
foreach (range(1, 40) as $ignored) {
    $answers[] = $take('on_error=closed', 'up again');
}
check($answers === [...array_fill(0, 40, 200), ...array_fill(0, 40, 429), ...array_fill(0, 40, 200)], 'Redis up, down and up again: each call is answered as on_error says', array_count_values($answers));

// The workers are replaced while requests come.
$id = bin2hex(random_bytes(4));
$restarts = proc_open(['sh', '-c', "for i in 1 2 3; do sleep 0.3; $restart || exit 1; done"], [1 => ['file', '/dev/null', 'w']], $pipes);
$result = load(3000, "page=take&store=shm&capacity=300&id=$id");
$restarted = proc_close($restarts);
$lost = $result['failed'] + $result['admitted'] - 300;
check($restarted === 0 && $result['complete'] === 3000 && $result['admitted'] <= 300 && $lost >= 0, "three restarts under load: $result[admitted] of 3000 admitted, $result[failed] without an answer", [$restarted, $result]);
wait_until(fn (): bool => get(['page' => 'active']) === '[0,0]');

// Flat: after everything is warm.
foreach ($stores as $store) {
    load(4_000, "page=work&store=$store", '-k');
}
$before = size();
foreach ($stores as $store) {
    $result = load(25_000, "page=work&store=$store", '-k');
    $result['failed'] === 0 && $result['admitted'] === 25_000 || fail("work on $store: " . json_encode($result));
}
// The server closes the load's connections after it.
comes_true(fn (): bool => size()[1] <= $before[1] + 4, 20);
$after = size();
check($after[0] - $before[0] < 8 * 1024 && $after[1] <= $before[1] + 4, "100000 requests: $before[0] KiB and $before[1] descriptors, then $after[0] KiB and $after[1]");
