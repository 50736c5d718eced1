--TEST--
php-fpm: the master opens no table and connects to no server; its workers do
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';
require dirname(__DIR__) . '/servers.inc';

$redis = new Server('redis');
// The master's own configuration: it knows as much of them as a worker.
$fpm = new Fpm(['www' => ['pm.max_children' => '1']], [
    'token_bucket.storage' => $redis->dsn(),
    'token_bucket.on_error' => 'throw',
    'token_bucket.timeout_ms' => '5000',
    'token_bucket.connect_timeout_ms' => '5000',
]);
$fpm->script('bucket.php', '<?php
    (new TokenBucket("shm:", "x", 9, 1))->consume();
    $bucket = new TokenBucket(null, "x", 1, 0.001);
    echo json_encode([$bucket->consume(), $bucket->consume(), TokenBucket\statistics() !== []]), "\n";');

/** What a process has of tables, wherever they are, in its memory and as files; and its connections to Redis. */
function opened(int $pid): string
{
    global $redis;
    $tables = function (string $paths): string {
        preg_match_all('~/token_bucket-\d+/(\S+)$~m', $paths, $found);
        sort($found[1]);
        return implode(' ', $found[1]) ?: 'none';
    };
    $files = implode("\n", array_map(readlink(...), glob("/proc/$pid/fd/*") ?: give_up("$pid cannot be looked at")));
    preg_match_all('/^socket:\[(\d+)\]$/m', $files, $sockets);
    $connections = 0;
    foreach (file("/proc/$pid/net/tcp") as $line) {
        // Sockets of the test's runner are there, too.
        [, , $peer, , , , , , , $inode] = preg_split('/\s+/', trim($line));
        $connections += (int) (str_ends_with($peer, sprintf(':%04X', $redis->port)) && in_array($inode, $sockets[1], true));
    }
    return 'mapped ' . $tables(file_get_contents("/proc/$pid/maps")) . ', open ' . $tables($files) . ", connections $connections";
}

/** What php-fpm has opened, and how many connections Redis has of it. */
function look(): void
{
    global $fpm, $redis;
    [$worker] = $fpm->workers();
    echo 'worker: ', opened($worker), "\nmaster: ", opened($fpm->master()), "\n",
        'Redis: ', substr_count($redis->ask('CLIENT LIST'), 'name=token_bucket'), "\n";
}

look();
echo $fpm->request('www', 'bucket.php')->body;
look();
?>
--EXPECT--
worker: mapped none, open none, connections 0
master: mapped none, open none, connections 0
Redis: 0
[true,false,true]
worker: mapped .host.v13 .statistics.v13 default.v13, open none, connections 1
master: mapped none, open none, connections 0
Redis: 1
