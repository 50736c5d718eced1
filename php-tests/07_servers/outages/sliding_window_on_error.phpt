--TEST--
SlidingWindow: on_error answers while a server is down, and what was decided where is given back there
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
use TokenBucket\{Decision, SlidingWindow};

function shown(Decision $decision): string
{
    return json_encode([$decision->isAccepted(), $decision->getRemainingTokens(), $decision->getRetryAfterSeconds(), $decision->getTokens()]) . ($decision->isDegraded() ? '*' : '');
}
foreach (['redis', 'memcached', SQL_SERVER] as $kind) {
    foreach ($kind === SQL_SERVER ? ['fallback'] : ['fallback', 'open', 'closed', 'throw'] as $policy) {
        $server = new Server($kind);
        $dsn = $server->dsn("on_error=$policy&timeout_ms=5000");
        $kind === SQL_SERVER && prepared($server->dsn());
        $window = new SlidingWindow($dsn, "sliding on $kind, $policy", 3, 3600);
        $first = $window->attempt(2);
        $server->kill();
        echo $kind === SQL_SERVER ? 'database' : $kind, " $policy: ", shown($first), ' | ';
        $policy === 'throw' || warning_of_outage($dsn);
        $count = count(warnings(function () use ($window): void {
            try {
                // This host's own window knows nothing of the hits on the server.
                $degraded = $window->attempt();
                echo shown($degraded), ' ', shown($window->attempt(2)), ' ', shown($window->attempt()), ' ', json_encode($degraded->refund()), ' ', shown($window->peek()), ' ';
                $window->block(60);
                echo shown($window->peek()), ' ';
                $window->reset();
                echo shown($window->peek());
            } catch (TokenBucket\StorageException) {
                echo 'an exception';
            }
        }));
        echo ", $count further warnings | ";
        $server->start();
        wait_until(function () use ($window): bool {
            try {
                return !@$window->peek()->isDegraded();
            } catch (TokenBucket\StorageException) {
                return false;
            }
        });
        // A database remembers what others forget.
        echo shown($window->peek(0)), ' ', json_encode($first->refund()), ' ', shown($window->attempt(3)), ' ', shown($window->attempt()), "\n";
    }
}
?>
--EXPECT--
redis fallback: [true,1,0,2] | [true,2,0,1]* [true,0,0,2]* [false,0,3600,0]* true [true,1,0,0]* [false,0,60,0]* [true,3,0,0]*, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
redis open: [true,1,0,2] | [true,3,0,1]* [true,3,0,2]* [true,3,0,1]* false [true,3,0,0]* [true,3,0,0]* [true,3,0,0]*, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
redis closed: [true,1,0,2] | [false,0,1,0]* [false,0,1,0]* [false,0,1,0]* false [false,0,1,0]* [false,0,1,0]* [false,0,1,0]*, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
redis throw: [true,1,0,2] | an exception, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
memcached fallback: [true,1,0,2] | [true,2,0,1]* [true,0,0,2]* [false,0,3600,0]* true [true,1,0,0]* [false,0,60,0]* [true,3,0,0]*, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
memcached open: [true,1,0,2] | [true,3,0,1]* [true,3,0,2]* [true,3,0,1]* false [true,3,0,0]* [true,3,0,0]* [true,3,0,0]*, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
memcached closed: [true,1,0,2] | [false,0,1,0]* [false,0,1,0]* [false,0,1,0]* false [false,0,1,0]* [false,0,1,0]* [false,0,1,0]*, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
memcached throw: [true,1,0,2] | an exception, 0 further warnings | [true,3,0,0] false [true,0,0,3] [false,0,3600,0]
database fallback: [true,1,0,2] | [true,2,0,1]* [true,0,0,2]* [false,0,3600,0]* true [true,1,0,0]* [false,0,60,0]* [true,3,0,0]*, 0 further warnings | [true,1,0,0] true [true,0,0,3] [false,0,3600,0]
