--TEST--
MariaDB and MySQL: while a server hangs, as during a backup, a few calls wait and all others are answered at once
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=closed
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';

$server = new Server(SQL_SERVER);
$dsn = prepared($server->dsn());
$bucket = fn (string $id): TokenBucket => new TokenBucket($dsn, $id, 10, 0.001);
foreach (['a', 'b'] as $id) {
    $bucket($id)->consume();
}

// A session that keeps all tables from being written to, for as long as it lives.
$backup = proc_open(
    ['mariadb', '--no-defaults', '-S', "$server->folder/socket", '-u', 'root', '-n'],
    [['pipe', 'r'], ['pipe', 'w']],
    $pipes,
);
fwrite($pipes[0], "FLUSH TABLES WITH READ LOCK; SELECT 'locked';\n");
while (($line = fgets($pipes[1])) !== "locked\n" && $line !== false);

$said = warnings(function () use ($bucket): void {
    foreach (['a', 'a', 'b'] as $id) {
        [$took, $told] = within_three_tries(200, function () use ($bucket, $id): array {
            return [milliseconds(function () use ($bucket, $id, &$is_degraded): void {
                $is_degraded = $bucket($id)->attempt()->isDegraded();
            }), $is_degraded ? 'degraded' : 'by the store'];
        });
        echo "$id: $told, ", $took <= 200 ? 'within the budget' : $took, "\n";
    }
    [$took] = within_three_tries(10, function () use ($bucket): array {
        $each = array_map(fn (int $i) => milliseconds(fn () => $bucket("c$i")->consume()), range(1, 100));
        sort($each);
        return [$each[80], ''];
    });
    echo $took <= 10 ? 'then at once' : $took, "\n";
});
// Those of single calls depend on what this host knew of the rows.
echo implode("\n", preg_grep('/until/', $said)), "\n";

fwrite($pipes[0], "UNLOCK TABLES;\n");
// By another bucket: what is tried meanwhile is taken, too.
wait_until(fn () => !@$bucket('d')->attempt()->isDegraded());
echo $bucket('a')->peek()->getRemainingTokens() >= 7 ? 'little was taken' : 'taken though nobody was let in', "\n";
proc_terminate($backup);
?>
--EXPECTF--
a: degraded, within the budget
a: degraded, within the budget
b: degraded, within the budget
then at once
TokenBucket::%s(): MySQL at 127.0.0.1:PORT: reads are answered, but the write waits for a lock (a backup, ALTER TABLE, another session) or the disk; until a write succeeds, every call is denied
little was taken
