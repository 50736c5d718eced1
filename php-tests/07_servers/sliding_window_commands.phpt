--TEST--
SlidingWindow: every call is one command to Redis, and a client takes the bytes that docs/stores.md states
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
use TokenBucket\{Compound, SlidingWindow};

$server = new Server('redis');
$dsn = $server->dsn();
$asked = function (callable $work) use ($server): int {
    $before = $server->commands();
    $work();
    $after = $server->commands();
    // Of the commands outside a script there are no others.
    return $after['evalsha'] + ($after['eval'] ?? 0) - ($before['evalsha'] ?? 0) - ($before['eval'] ?? 0);
};

foreach ([5, 1_024] as $limit) {
    $window = new SlidingWindow($dsn, "commands-$limit:x", $limit, 3600);
    $window->peek(); // connects, and loads the script
    $decision = null;
    $counts = [
        'consume' => fn () => $window->consume(),
        'several' => fn () => $window->consume(3),
        'attempt' => function () use ($window, &$decision) {
            $decision = $window->attempt();
        },
        'denied' => fn () => $window->consume($limit) && give_up('not denied'),
        'denied again' => fn () => $window->consume($limit) && give_up('not denied'),
        'never' => fn () => $window->consume(2_000) && give_up('not denied'),
        'peek' => fn () => $window->peek(2),
        'of cost 0' => fn () => $window->consume(0),
        'refund of a decision' => function () use (&$decision) {
            $decision->refund() || give_up('not given back');
        },
        'refund' => fn () => $window->refund(),
        'block' => fn () => $window->block(60),
        'reset' => fn () => $window->reset(),
    ];
    echo "$limit:";
    foreach ($counts as $what => $work) {
        echo " $what ", $asked($work), ',';
    }
    echo "\n";
}
// With other limits in a Compound: one, too.
$compound = new Compound(new SlidingWindow($dsn, 'one:x', 5, 60), TokenBucket::per($dsn, 'two:x', 5, 60), new SlidingWindow($dsn, 'three:x', 3, 60), new TokenBucket\FixedWindow($dsn, 'four:x', 5, 60));
$compound->peek();
echo 'compound: ', implode(' ', array_map($asked, [fn () => $compound->consume(), fn () => $compound->attempt([1, 2, 2, 1]), fn () => $compound->consume(), fn () => $compound->peek()])), "\n";
// While it is blocked the deny cache answers; a denial by the hits alone is always the server's.
$window->block(60);
echo 'blocked: ', $asked(fn () => array_map(fn () => $window->consume() && give_up('not denied'), range(1, 100))) === 0 ? 'not asked' : 'asked', "\n";

// The bytes of a client whose hits are all taken, and when its key expires.
foreach ([5, 100, 1_024] as $limit) {
    (new SlidingWindow($dsn, "memory-$limit:192.0.2.1", $limit, 900))->consume($limit);
    $key = "tb:memory-$limit:192.0.2.1#s";
    preg_match('/:(\d+)/', $server->ask("MEMORY USAGE $key"), $bytes);
    preg_match('/:(\d+)/', $server->ask("STRLEN $key"), $length);
    preg_match('/:(\d+)/', $server->ask("PTTL $key"), $expiry);
    // Redis rounds up to the sizes of its allocator, which differ between its versions.
    $stated = [5 => 136, 100 => 1_096, 1_024 => 10_312][$limit];
    echo "$limit hits: $length[1] bytes of value, ", abs($bytes[1] - $stated) <= max(32, $stated / 8) ? 'in all as stated' : "$bytes[1] in all", ', ', $expiry[1] > 800_000 && $expiry[1] <= 902_000 ? 'expires' : $expiry[1], "\n";
}
?>
--EXPECT--
5: consume 1, several 1, attempt 1, denied 1, denied again 1, never 1, peek 1, of cost 0 1, refund of a decision 1, refund 1, block 1, reset 1,
1024: consume 1, several 1, attempt 1, denied 1, denied again 1, never 1, peek 1, of cost 0 1, refund of a decision 1, refund 1, block 1, reset 1,
compound: 1 1 1 1
blocked: not asked
5 hits: 46 bytes of value, in all as stated, expires
100 hits: 901 bytes of value, in all as stated, expires
1024 hits: 9217 bytes of value, in all as stated, expires
