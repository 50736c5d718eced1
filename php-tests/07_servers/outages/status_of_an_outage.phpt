--TEST--
status(): a server that fails is down since then, for all processes; its recovery is logged once, and no error handler hears of it
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=1000
token_bucket.connect_timeout_ms=1000
log_errors=1
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';
require dirname(__DIR__, 2) . '/utils.inc';
use function TokenBucket\{prometheus, status};
// The servers of other tests would take the place of these.
run_apart(__FILE__);

function server_status(Server $server): array
{
    $address = str_contains($server->dsn(), 'unix') ? "$server->folder/socket" : ":$server->port";
    $named = array_filter(status()['servers'], fn (array $row): bool => str_contains($row['name'], $address));
    return count($named) === 1 ? array_values($named)[0] : ['rows' => count($named)];
}
$log = tempnam('/dev/shm', 'token_bucket-log-');
register_shutdown_function(fn () => @unlink($log));
ini_set('error_log', $log);
$logged = fn (): string => preg_replace(['/^\[.*?\] /m', '/:\d{4,}/', '~/\S+/socket~', '/\d+\.\d s/'], ['', ':PORT', 'FOLDER/socket', 'N s'], implode(preg_grep('/\] token_bucket: /', file($log))));

foreach (['redis', 'memcached', 'redis+unix'] as $kind) {
    foreach (['fallback', 'throw'] as $policy) {
        file_put_contents($log, '');
        $server = new Server($kind);
        $dsn = $server->dsn("on_error=$policy");
        $call = function () use ($dsn): ?string {
            try {
                @(new TokenBucket($dsn, 'x', 1e6, 1))->consume();
                return null;
            } catch (TokenBucket\StorageException $e) {
                return $e::class;
            }
        };
        $began = time() - 1;
        $call();
        ['name' => $name, 'up' => $up, 'since' => $since, 'outages' => $outages] = server_status($server);
        echo "$kind $policy: ", str_replace([(string) $server->port, $server->folder], ['PORT', 'FOLDER'], $name), ' ', json_encode([$up, $since >= $began && $since <= time() + 1, $outages]);

        // Two processes find the outage and its end; one tells of the end.
        $server->kill();
        // A server that is stopped in order removes its socket.
        @unlink("$server->folder/socket");
        $handled = at_once(2, fn () => function () use ($call): array {
            wait_until(function () use ($call): bool {
                $call();
                return !server_status($GLOBALS['server'])['up'];
            });
            return server_status($GLOBALS['server']);
        });
        echo ' ', json_encode(array_column($handled, 'up')), ' ', json_encode(array_column($handled, 'outages'));
        echo abs(server_status($server)['since'] - $handled[0]['since']) < 0.1 ? '' : ' since another time';
        $server->start();
        $heard = at_once(2, fn () => function () use ($dsn, $logged): array {
            $heard = [];
            set_error_handler(function (int $level, string $message) use (&$heard): bool {
                $heard[] = $message;
                return true;
            });
            $bucket = new TokenBucket($dsn, 'x', 1e6, 1);
            wait_until(function () use ($bucket, $logged): bool {
                try {
                    $bucket->consume();
                } catch (TokenBucket\StorageException) {
                }
                return str_contains($logged(), 'again');
            });
            return $heard;
        });
        $row = server_status($server);
        echo ' ', json_encode([$row['up'], $row['outages'], array_merge(...$heard)]), "\n", $logged();
    }
}

// Two logins of one server are one row. A store of several servers is down if one of them is.
$one = new Server('memcached');
$two = new Server('memcached');
$pair = fn (string $id): TokenBucket => new TokenBucket("memcached://127.0.0.1:$one->port,127.0.0.1:$two->port", $id, 1e6, 1);
$two->signal(SIGSTOP);
for ($i = 0; server_status($two)['up'] ?? true; $i++) {
    @$pair('client:' . $i % 20)->consume();
}
echo json_encode(array_intersect_key(server_status($two), ['up' => 0, 'outages' => 0])), "\n";
$two->signal(SIGCONT);
for ($i = 0; $i < 20; $i++) {
    wait_until_back($pair("client:$i"));
}
echo json_encode(array_intersect_key(server_status($two), ['up' => 0, 'outages' => 0])), "\n";
echo preg_match("/^token_bucket_server_up\{server=\"memcached at 127.0.0.1:$one->port, 127.0.0.1:$two->port\"\} 1$/m", prometheus()), "\n";

// An outage that begins before anyone has noticed the end of the one before is another one.
file_put_contents($log, '');
$server = new Server('redis');
$bucket = new TokenBucket($server->dsn(), 'x', 1e6, 1);
$bucket->consume();
for ($i = 0; $i < 2; $i++) {
    $server->kill();
    warning_of_outage($server->dsn());
    $down_since = server_status($server)['since'];
    $server->start();
    wait_until(fn (): bool => !$bucket->attempt()->isDegraded());
    // The breaker takes a failure within a second for one of the same outage.
    wait_until(fn (): bool => microtime(true) - server_status($server)['since'] > 1.1);
}
$server->kill();
warning_of_outage($server->dsn());
echo json_encode([server_status($server)['outages'], server_status($server)['since'] - $down_since > 1]), "\n", $logged();

$redis = new Server('redis');
foreach (['', '/1', '/2'] as $database) {
    (new TokenBucket("redis://127.0.0.1:$redis->port$database", 'x', 1, 1))->consume();
}
echo json_encode(server_status($redis)['up']), "\n";
?>
--EXPECT--
redis fallback: Redis at 127.0.0.1:PORT [true,true,0] [false,false] [1,1] [true,1,[]]
token_bucket: Redis at 127.0.0.1:PORT answers again; it did not for N s
redis throw: Redis at 127.0.0.1:PORT [true,true,0] [false,false] [1,1] [true,1,[]]
token_bucket: Redis at 127.0.0.1:PORT answers again; it did not for N s
memcached fallback: memcached at 127.0.0.1:PORT [true,true,0] [false,false] [1,1] [true,1,[]]
token_bucket: memcached at 127.0.0.1:PORT answers again; it did not for N s
memcached throw: memcached at 127.0.0.1:PORT [true,true,0] [false,false] [1,1] [true,1,[]]
token_bucket: memcached at 127.0.0.1:PORT answers again; it did not for N s
redis+unix fallback: Redis at FOLDER/socket [true,true,0] [false,false] [1,1] [true,1,[]]
token_bucket: Redis at FOLDER/socket answers again; it did not for N s
redis+unix throw: Redis at FOLDER/socket [true,true,0] [false,false] [1,1] [true,1,[]]
token_bucket: Redis at FOLDER/socket answers again; it did not for N s
{"up":false,"outages":1}
{"up":true,"outages":1}
1
[3,true]
token_bucket: Redis at 127.0.0.1:PORT answers again; it did not for N s
token_bucket: Redis at 127.0.0.1:PORT answers again; it did not for N s
true
