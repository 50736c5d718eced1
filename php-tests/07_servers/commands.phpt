--TEST--
Servers: a decision takes one command on Redis; on memcached two, also on average on a hot key
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/processes.inc';

$redis = new Server('redis');
$bucket = new TokenBucket($redis->dsn(), 'x', 50, 0.001);
$bucket->consume();
$redis->ask('CONFIG RESETSTAT');
for ($i = 0; $i < 100; $i++) {
    $bucket->consume();
    $bucket->check();
    $bucket->check('client', 3, 60);
}
$bucket->peek();
$_ = $bucket->reserve(1, 1e6);
$bucket->refund();
$bucket->reset();
$commands = $redis->commands();
// What the script does counts apart.
echo 'redis: evalsha ', $commands['evalsha'], ' of 304; eval ', $commands['eval'] ?? 0, ', script ', $commands['script|load'] ?? 0, ', ping ', $commands['ping'] ?? 0, "\n";

$memcached = new Server('memcached');
$decisions = function (callable $work) use ($memcached): array {
    $before = array_sum(memcached_commands($memcached->port));
    $work();
    return [array_sum(memcached_commands($memcached->port)) - $before];
};
[$alone] = $decisions(function () use ($memcached): void {
    for ($i = 0; $i < 100; $i++) {
        (new TokenBucket($memcached->dsn(), "x$i", 10, 1))->consume();
    }
});
echo 'memcached, alone: ', $alone <= 200 ? 'at most 2' : $alone / 100, "\n";
foreach (['full all the while' => [1_000_000, 1_000_000], 'emptied' => [1_000_000, 0.1], 'not to be had in whole nanoseconds' => [1_000_000, 7]] as $what => [$capacity, $rate]) {
    [$together] = $decisions(function () use ($memcached, $capacity, $rate, $what): void {
        in_processes(8, function () use ($memcached, $capacity, $rate, $what): void {
            $bucket = new TokenBucket($memcached->dsn(), $what, $capacity, $rate);
            for ($i = 0; $i < 1_000; $i++) {
                $bucket->consume();
            }
        });
    });
    echo 'memcached, hot, ', $what, ': ', $together <= 16_000 ? 'at most 2' : $together / 8_000, "\n";
}
?>
--EXPECT--
redis: evalsha 304 of 304; eval 0, script 0, ping 0
memcached, alone: at most 2
memcached, hot, full all the while: at most 2
memcached, hot, emptied: at most 2
memcached, hot, not to be had in whole nanoseconds: at most 2
