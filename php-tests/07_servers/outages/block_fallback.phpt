--TEST--
block(): fallback knows no block that the server has, and the server none that fallback was given
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

$server = new Server('redis');
$bucket = TokenBucket::per($server->dsn('timeout_ms=5000&connect_timeout_ms=5000'), 'x', 5, 60);
$say = function (string $when) use ($bucket): void {
    $decision = @$bucket->attempt();
    echo $when, ': ', $decision->isAccepted() ? 'accepted' : 'denied', $decision->isDegraded() ? ' by fallback' : '', "\n";
};
$bucket->block(900);
$say('blocked on the server');
$server->kill();
$say('the server is down');
@$bucket->block(900);
$say('blocked on fallback');
$server->start();
wait_until_back(TokenBucket::per($server->dsn('timeout_ms=5000&connect_timeout_ms=5000'), 'other', 1_000_000, 1));
$say('the server is back');
?>
--EXPECT--
blocked on the server: denied
the server is down: accepted by fallback
blocked on fallback: denied by fallback
the server is back: accepted
