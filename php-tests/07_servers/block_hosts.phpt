--TEST--
block(): another host denies too, asks the server once a second meanwhile, and sees a reset() within a second
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

/** Starts a worker of another host, which has a folder of its own. It says "denied" or "accepted", and then when it is accepted. */
function other_host(string $dsn, string $id)
{
    $folder = ini_get('token_bucket.shm_path') . '/block-hosts';
    is_dir($folder) || mkdir($folder);
    $code = '$limiter = TokenBucket::per($argv[1], $argv[2], 5, 60);
        echo $limiter->consume() ? "accepted\n" : "denied\n";
        for ($end = hrtime(true) + 20e9; !$limiter->consume() && hrtime(true) < $end; usleep(2_000));
        echo "accepted\n";';
    $command = 'exec ' . escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$folder -d token_bucket.on_error=throw"
        . ' -d token_bucket.timeout_ms=10000 -d token_bucket.connect_timeout_ms=10000 -r ' . escapeshellarg($code) . ' -- ' . escapeshellarg($dsn) . " $id";
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['pipe', 'w']], $pipes);
    return [$process, $pipes[1]];
}
$limiters = $hosts = $lifted = $took = [];
foreach (server_dsns() as $name => $dsn) {
    $id = 'block-hosts:' . bin2hex(random_bytes(8));
    $limiters[$name] = TokenBucket::per($dsn, $id, 5, 60);
    $limiters[$name]->block(900);
    $hosts[$name] = other_host($dsn, $id);
}
foreach ($hosts as $name => [, $pipe]) {
    echo $name, ': ', fgets($pipe);
}
foreach ($limiters as $name => $limiter) {
    $lifted[$name] = hrtime(true);
    $limiter->reset();
}
// All hosts are read together, each as it answers.
for ($waiting = array_map(fn (array $host) => $host[1], $hosts); $waiting; ) {
    $read = $waiting;
    stream_select($read, $write, $except, 20) || give_up('another host did not answer');
    foreach ($read as $name => $pipe) {
        fgets($pipe) === "accepted\n" || give_up("$name is not accepted");
        $took[$name] = (hrtime(true) - $lifted[$name]) / 1e9;
        unset($waiting[$name]);
    }
}
array_map(fn (array $host) => proc_close($host[0]), $hosts);
// One second, and what a busy machine adds.
$late = array_filter($took, fn (float $seconds): bool => $seconds > 1.5);
echo count($took), ' accepted, ', $late ? json_encode($late) : 'all in time', "\n";

// How often a server is asked while a blocked client tries without end: once a second.
foreach (['redis', 'memcached'] as $kind) {
    $server = new Server($kind);
    $asked = fn (): int => $kind === 'redis' ? $server->commands()['evalsha'] ?? 0 : array_sum(memcached_commands($server->port));
    foreach ([TokenBucket::per($server->dsn(), 'x', 5, 60), new TokenBucket\FixedWindow($server->dsn(), 'x', 5, 60)] as $limiter) {
        $limiter->block(900);
        $before = $asked();
        $accepted = $tries = 0;
        for ($end = hrtime(true) + 1.6e9; hrtime(true) < $end; $tries++) {
            $accepted += (int) $limiter->consume($tries % 2);
            $tries % 3 || $accepted += (int) ($limiter instanceof TokenBucket ? !$limiter->check() : $limiter->attempt()->isAccepted());
        }
        $times = $asked() - $before;
        // Two commands to memcached for a call.
        echo $kind, ' ', $limiter::class, ': ', $accepted, ' accepted, ', $tries > 1_000 ? 'many' : $tries, ' tries, ',
            $times >= 1 && $times <= ($kind === 'redis' ? 3 : 6) ? 'asked once a second' : "$times asked", "\n";
        // This host's own reset() is seen at once.
        $limiter->reset();
        var_dump($limiter->consume(5), $limiter->consume());
    }
    ini_set('token_bucket.deny_cache', '0');
    $limiter = TokenBucket::per($server->dsn(), 'y', 5, 60);
    $limiter->block(900);
    $before = $asked();
    for ($i = 0; $i < 10; $i++) {
        $limiter->consume();
    }
    echo $asked() - $before, " asked\n";
    ini_restore('token_bucket.deny_cache');
}

// While the store fails: this host's own buckets, nothing, or an exception.
foreach (['fallback', 'open', 'closed', 'throw'] as $policy) {
    $server = new Server('redis');
    $limiter = TokenBucket::per($server->dsn("on_error=$policy"), 'x', 5, 60);
    $limiter->consume();
    $server->kill();
    try {
        @$limiter->block(900);
        $decision = @$limiter->attempt();
        echo "$policy: ", json_encode([$decision->isAccepted(), $decision->isDegraded(), $decision->getRetryAfterSeconds()]);
        $server->start();
        wait_until_back(new TokenBucket($server->dsn("on_error=$policy"), 'probe', 1, 1));
        echo ', afterwards ', json_encode($limiter->consume()), "\n";
    } catch (TokenBucket\StorageException) {
        echo "$policy: an exception\n";
    }
}
?>
--EXPECT--
TB_REDIS: denied
TB_REDIS_UNIX: denied
TB_REDIS_TLS: denied
TB_REDIS_CLUSTER: denied
TB_REDIS_SENTINEL: denied
TB_MEMCACHED: denied
TB_MEMCACHED_UNIX: denied
TB_MEMCACHED_TWO: denied
TB_MARIADB: denied
TB_MARIADB_UNIX: denied
TB_MARIADB_TLS: denied
TB_MYSQL: denied
TB_MYSQL_UNIX: denied
TB_MYSQL_TLS: denied
14 accepted, all in time
redis TokenBucket: 0 accepted, many tries, asked once a second
bool(true)
bool(false)
redis TokenBucket\FixedWindow: 0 accepted, many tries, asked once a second
bool(true)
bool(false)
10 asked
memcached TokenBucket: 0 accepted, many tries, asked once a second
bool(true)
bool(false)
memcached TokenBucket\FixedWindow: 0 accepted, many tries, asked once a second
bool(true)
bool(false)
10 asked
fallback: [false,true,900], afterwards true
open: [true,true,0], afterwards true
closed: [false,true,1], afterwards true
throw: an exception
