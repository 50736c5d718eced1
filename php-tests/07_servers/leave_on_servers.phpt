--TEST--
attempt(leave:): on every store; a low call's denial that this host remembers denies no important call; it takes nothing of a lease; one command in a Compound
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
token_bucket.on_error=throw
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{CalendarWindow, Compound, FixedWindow, SlidingWindow};

foreach (server_dsns() as $name => $dsn) {
    $id = bin2hex(random_bytes(8));
    foreach ([
        new TokenBucket($dsn, $id, 10, 0.001),
        new FixedWindow($dsn, $id, 10, 3600),
        new SlidingWindow($dsn, $id, 10, 3600),
        new CalendarWindow($dsn, $id, 10, 'year'),
    ] as $limiter) {
        $answers = [];
        foreach ([[4, 6], [1, 6], [1, 6], [1, 0], [1, 4], [1, 5], [4, 0]] as [$tokens, $leave]) {
            $answers[] = (int) $limiter->attempt($tokens, $leave)->isAccepted();
        }
        if (implode($answers) !== '1001101') {
            echo "$name, ", $limiter::class, ': ', implode($answers), "\n";
        }
    }
}

$redis = new Server('redis');
$trips = function (callable $work) use ($redis): int {
    $asked = fn (): int => $redis->commands()['evalsha'] ?? 0;
    $before = $asked();
    $work();
    return $asked() - $before;
};
$bucket = new TokenBucket($redis->dsn(), 'deny cache', 10, 0.001);
$_ = $bucket->attempt(4, leave: 6);
$low = fn (): bool => $bucket->attempt(1, leave: 6)->isAccepted();
echo json_encode([$low(), $trips($low), $bucket->consume(), $bucket->attempt(6)->isAccepted(), $bucket->attempt(5)->isAccepted(), $trips($low)]), "\n";

// The server has 600 or so, and this host holds some of the rest.
$leased = new TokenBucket($redis->dsn('lease=64'), 'leased', 1_000, 0.001);
times(400, $leased->consume(...));
$on_server = (new TokenBucket($redis->dsn(), 'leased', 1_000, 0.001))->peek(0)->getRemainingTokens();
$held = $leased->peek(0)->getRemainingTokens() - $on_server;
echo json_encode([
    $held > 0,
    $leased->attempt(1, leave: $on_server)->isAccepted(),
    $leased->attempt(1, leave: $on_server - 1)->isAccepted(),
    $leased->peek(0)->getRemainingTokens() === $on_server + $held - 1,
]), "\n";

$both = new Compound(new TokenBucket($redis->dsn(), 'a', 10, 0.001), new FixedWindow($redis->dsn(), 'b', 20, 3600));
$both->peek();
echo json_encode([
    $trips(function () use ($both, &$accepted) {
        $accepted = $both->attempt([2, 3], [8, 17])->isAccepted();
    }),
    $accepted,
    $both->attempt(1, [7, 17])->isAccepted(), $both->attempt(1, [7, 16])->isAccepted(), $both->attempt(1, 7)->isAccepted(),
]), "\n";
?>
--EXPECT--
[false,0,true,false,true,0]
[true,false,true,true]
[1,true,false,true,false]
