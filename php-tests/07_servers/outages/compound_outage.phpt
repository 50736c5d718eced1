--TEST--
Compound: servers that give no answer share the time of one call: on_error answers for the rest without asking them
--EXTENSIONS--
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/utils.inc';
require dirname(__DIR__, 2) . '/servers.inc';
run_apart(__FILE__);
ini_set('token_bucket.timeout_ms', '500');

/** The connections of this process. One that gives no answer is closed. */
function connections(): int
{
    return count(preg_grep('/^socket:/', array_map(fn (string $file): string => (string) @readlink($file), glob('/proc/self/fd/*'))));
}

$servers = [new Server('redis'), new Server('memcached'), new Server('redis')];
$others = connections();
$compound = new TokenBucket\Compound(...array_map(fn (Server $server): TokenBucket => new TokenBucket($server->dsn(), 'x', 9, 0.001), $servers));
var_dump($compound->consume());
echo connections() - $others, " connections\n";
array_map(fn (Server $server) => $server->signal(SIGSTOP), $servers);
$decision = @$compound->attempt();
echo connections() - $others, ' are left of ', count($servers), ": one server was asked\n";
var_dump($decision->isAccepted(), $decision->isDegraded());
?>
--EXPECT--
bool(true)
3 connections
2 are left of 3: one server was asked
bool(true)
bool(true)
