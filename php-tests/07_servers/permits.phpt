--TEST--
Redis: permits take one command each; they go back at the end of a script, however it ends; those of a killed process end with their lifetime
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
pcre.jit=0
--FILE--
<?php
use TokenBucket\{ConcurrencyLimit, RedisStorage};
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/permit_process.inc';

$redis = new Server('redis');
$limit = new ConcurrencyLimit($redis->dsn(), 'x', 3);
$permit = $limit->acquire();
$permit->release();

// One round trip each, and one key, which expires with the latest lifetime.
$commands = function (callable $call) use ($redis): string {
    $redis->ask('CONFIG RESETSTAT');
    $call();
    $counts = $redis->commands();
    return 'evalsha ' . ($counts['evalsha'] ?? 0) . ', others ' . array_sum(array_intersect_key($counts, ['eval' => 0, 'script|load' => 0, 'ping' => 0]));
};
echo 'acquire: ', $commands(function () use ($limit, &$permit) { $permit = $limit->acquire(); }), "\n";
echo 'renew: ', $commands(fn () => $permit->renew()), "\n";
echo 'getActive: ', $commands(fn () => $limit->getActive()), "\n";
$other = (new ConcurrencyLimit(new RedisStorage($redis->dsn()), 'x', 3, 1000))->acquire();
preg_match('/:(\d+)/', $redis->ask('PTTL tb:x#c'), $ttl);
preg_match('/:(\d+)/', $redis->ask('STRLEN tb:x#c'), $length);
echo 'the key: ', $ttl[1] > 990_000 && $ttl[1] <= 1_002_000 ? 'the longest lifetime' : $ttl[1], ', ', $length[1], " bytes\n";
echo 'a third, and no fourth: ', json_encode([($third = $limit->acquire()) !== null, $limit->acquire(), $limit->getActive()]), "\n";
unset($third);
echo 'release: ', $commands(fn () => $permit->release()), "\n";
echo 'a second release: ', $commands(fn () => $permit->release()), "\n";
echo 'destruction: ', $commands(function () use (&$other) { $other = null; }), "\n";
$limit->reset();
echo 'reset: ', trim(strtok($redis->ask('EXISTS tb:x#c'), "\r")), ' ', $commands(fn () => $limit->reset()), "\n";

// Ends of a script.
$endings = ['exit', 'error', 'memory', 'time', 'throw'];
foreach (server_dsns() as $name => $dsn) {
    if (!str_starts_with($name, 'TB_REDIS')) {
        continue;
    }
    $dsn = with($dsn, 'prefix=permits' . getmypid() . ':');
    $limit = new ConcurrencyLimit($dsn, 'x', 2, 30);
    echo $name, ':';
    foreach ($name === 'TB_REDIS_UNIX' ? $endings : ['exit', 'error'] as $ending) {
        $process = new PermitProcess($dsn, 2, 30);
        echo ' ', $process->ask_all('acquire', 'acquire', 'acquire'), ' ', $limit->getActive();
        $process->end($ending);
        echo ' ', $limit->getActive(), ',';
    }
    // A process that is killed keeps its permits until their lifetime ends.
    $process = new PermitProcess($dsn, 2, 1.5);
    echo ' killed: ', $process->ask('acquire');
    $process->kill();
    echo ' ', $limit->getActive();
    echo ' ', comes_true(fn (): bool => $limit->getActive() === 0, 5) ? 'free after the lifetime' : 'never free', "\n";
    $limit->reset();
}

// A child gives nothing of its parent's back, and has permits of its own.
$limit = new ConcurrencyLimit($redis->dsn(), 'fork', 2, 30);
$permit = $limit->acquire();
$pid = pcntl_fork();
if ($pid === 0) {
    $own = $limit->acquire();
    echo 'child: ', json_encode([$permit->renew(), $permit->release(), $own !== null, $limit->acquire()]), "\n";
    exit;
}
pcntl_waitpid($pid, $status);
echo 'parent: ', json_encode([$limit->getActive(), $permit->renew()]), "\n";
unset($permit);

// What is no list of permits is none; another type concerns its key alone.
foreach (['hello', str_repeat('x', 29), str_repeat("\xff", 58), ''] as $value) {
    $client = fsockopen('127.0.0.1', $redis->port);
    fwrite($client, "*3\r\n$3\r\nSET\r\n$9\r\nc:tb:text\r\n$" . strlen($value) . "\r\n$value\r\n");
    fgets($client);
    $limit = new ConcurrencyLimit($redis->dsn(), 'text', 1);
    echo 'foreign: ', $limit->getActive(), ' ', json_encode([($permit = $limit->acquire()) !== null, $limit->acquire(), $limit->getActive()]), "\n";
    $permit->release();
}
$redis->ask('HSET tb:hash#c a b');
try {
    $permit = (new ConcurrencyLimit($redis->dsn(), 'hash', 1))->acquire();
} catch (TokenBucket\StorageException $e) {
    echo preg_replace(['/:\d+:/', '/(WRONGTYPE) .*/'], [':PORT:', '$1'], $e->getMessage()), "\n";
}

// A call whose reply was lost is repeated, and takes no second permit.
$log = temporary_file();
$calls = 0;
$port = proxy($redis->port, function (string $bytes, bool $is_answer) use ($log, &$calls): ?string {
    $calls += (int) (!$is_answer && str_contains($bytes, 'EVALSHA'));
    // The second call on a connection is done, and its reply is lost.
    return $is_answer && $calls === 2 && file_put_contents($log, '.', FILE_APPEND) ? null : $bytes;
});
$limit = new ConcurrencyLimit("redis://127.0.0.1:$port", 'lost', 2, 30);
$seen = new ConcurrencyLimit($redis->dsn(), 'lost', 2);
$permits = [$limit->acquire(), $limit->acquire()];
echo 'lost: ', filesize($log), ' ', json_encode([$permits[1] !== null, $seen->getActive(), $permits[1]->renew()]);
clearstatcache();
unset($permits[1]);
echo ' ', filesize($log), ' ', $seen->getActive(), "\n";
// Before the end of the script, which removes the log.
$permits = [];
?>
--EXPECT--
acquire: evalsha 1, others 0
renew: evalsha 1, others 0
getActive: evalsha 1, others 0
the key: the longest lifetime, 58 bytes
a third, and no fourth: [true,null,3]
release: evalsha 1, others 0
a second release: evalsha 0, others 0
destruction: evalsha 1, others 0
reset: :0 evalsha 1, others 0
TB_REDIS: yes yes no 2 0, yes yes no 2 0, killed: yes 1 free after the lifetime
TB_REDIS_UNIX: yes yes no 2 0, yes yes no 2 0, yes yes no 2 0, yes yes no 2 0, yes yes no 2 0, killed: yes 1 free after the lifetime
TB_REDIS_TLS: yes yes no 2 0, yes yes no 2 0, killed: yes 1 free after the lifetime
TB_REDIS_CLUSTER: yes yes no 2 0, yes yes no 2 0, killed: yes 1 free after the lifetime
TB_REDIS_SENTINEL: yes yes no 2 0, yes yes no 2 0, killed: yes 1 free after the lifetime
child: [false,null,true,null]
parent: [1,true]
foreign: 0 [true,null,1]
foreign: 0 [true,null,1]
foreign: 0 [true,null,1]
foreign: 0 [true,null,1]
Redis at 127.0.0.1:PORT: WRONGTYPE
lost: 1 [true,2,true] 3 1
