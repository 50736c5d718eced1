--TEST--
lease: a busy bucket is decided on this host, from tokens that were taken ahead; what else is asked, the server decides
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.timeout_ms=2000
token_bucket.connect_timeout_ms=2000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/processes.inc';
require dirname(__DIR__, 2) . '/utils.inc';
use TokenBucket\{Compound, LeakyBucket, SlidingWindow};

$redis = new Server('redis');
$dsn = $redis->dsn('lease=64');
$asked = fn (): int => $redis->commands()['evalsha'] ?? 0;
/** How many commands the server gets for $calls calls. */
$trips = function (int $calls, callable $call) use ($asked): int {
    $before = $asked();
    for ($i = 0; $i < $calls; $i++) {
        $call();
    }
    return $asked() - $before;
};
(new TokenBucket($dsn, 'script', 1, 1))->peek();

// The batch doubles: 1, 2, 4 ... 64. Then each trip brings 64.
$bucket = new TokenBucket($dsn, 'busy', 10_000, 0.001);
echo $trips(127, $bucket->consume(...)), ' ', $trips(640, $bucket->consume(...)), " trips\n";
$plain = new TokenBucket($redis->dsn(), 'busy', 10_000, 0.001);
echo 'the server has given ', 10_000 - $plain->peek()->getRemainingTokens(), " of which 767 are used\n";
$leaky = new LeakyBucket($dsn, 'leaky', 10_000, 10_000);
echo 'leaky bucket: ', $trips(127, $leaky->consume(...)), " trips\n";

// A decision of a lease counts what this host holds as left. It is not degraded, and can be given back.
$bucket->consume();
$decision = $bucket->attempt(5);
echo json_encode([$decision->isAccepted(), $decision->isDegraded(), $decision->getTokens(), $decision->getRemainingTokens(), $decision->getRetryAfter()]), "\n";
echo $trips(1, fn () => print(json_encode([$decision->refund(), $decision->refund()]))), ' trips for a refund, peek ', json_encode($bucket->peek(5)->isAccepted()), ' ', $trips(1, fn () => $bucket->peek(5)), "\n";

// An operator sees how many buckets have tokens here.
foreach (TokenBucket\status()['tables'] as $table) {
    $table['holds'] === 'leases' && print("$table[name]: " . ($table['used'] >= 1 ? 'in use' : 'not in use') . "\n");
}

// More than the lease has: the server is asked. More than a lease can have, too.
$small = new TokenBucket($redis->dsn('lease=4'), 'small', 10_000, 0.001);
times(20, $small->consume(...));
echo $trips(3, fn () => $small->consume(5)), ' ', $trips(1, fn () => $small->consume(10_001)), " trips for more than the lease\n";

// What has no lease.
foreach ([
    'check()' => fn () => $bucket->check('client', 1_000, 1_000),
    'reserve()' => fn () => $bucket->reserve(1, 0),
    'takeUpTo()' => fn () => $bucket->takeUpTo(3),
    'SlidingWindow' => [new SlidingWindow($dsn, 'w', 100, 600), 'consume'],
    'Compound' => [new Compound(new TokenBucket($dsn, 'x', 1_000, 1), new TokenBucket($dsn, 'y', 1_000, 1)), 'consume'],
] as $what => $call) {
    echo "$what: ", $trips(20, $call), " trips of 20\n";
}

// Scarce tokens are decided by the server: from a quarter on each call asks.
$scarce = new TokenBucket($dsn, 'scarce', 100, 0.001);
echo times(110, $scarce->consume(...)), ' ', 100 - (new TokenBucket($redis->dsn(), 'scarce', 100, 0.001))->peek()->getRemainingTokens(), " given\n";
$scarce->reset();
echo $trips(75, $scarce->consume(...)) < 20 ? 'few' : 'many', ' trips for three quarters, ', $trips(20, $scarce->consume(...)), " for 20 more\n";

// reset() and block() end the lease of this host at once.
$bucket->block(900);
echo json_encode($bucket->consume()), ' blocked, ';
$bucket->reset();
times(200, $bucket->consume(...));
$left = $plain->peek()->getRemainingTokens();
$bucket->reset();
echo $left < 9_900 ? '' : 'the lease was not used, ', $plain->peek()->getRemainingTokens(), " after a reset\n";

// Another limit on the same identifier gets no token of this one.
$other = new TokenBucket($dsn, 'busy', 20_000, 0.001);
times(50, $bucket->consume(...));
echo $trips(1, $other->consume(...)), " trip under another limit\n";

// While the server is stopped, what the lease has is given out; then on_error answers.
foreach (['closed', 'throw'] as $policy) {
    $limit = new TokenBucket($redis->dsn("lease=64&on_error=$policy&timeout_ms=1000"), "outage-$policy", 10_000, 0.001);
    times(127 + 10, $limit->consume(...));
    $redis->signal(SIGSTOP);
    $accepted = 0;
    try {
        while (@$limit->consume()) {
            $accepted++;
        }
        echo "$policy: $accepted, then denied\n";
    } catch (TokenBucket\StorageException) {
        echo "$policy: $accepted, then an exception\n";
    }
    $redis->signal(SIGCONT);
    wait_until_back(new TokenBucket($redis->dsn('on_error=fallback'), 'probe', 1, 1));
}

// Processes of one host share a lease, also where its first user has died.
$shared = array_map(intval(...), in_processes(4, function () use ($dsn): int {
    $bucket = new TokenBucket($dsn, 'shared', 1_000, 0.001);
    return substr_count(times(400, $bucket->consume(...)), '1');
}));
$given = 1_000 - (new TokenBucket($redis->dsn(), 'shared', 1_000, 0.001))->peek()->getRemainingTokens();
echo array_sum($shared) >= 1_000 - 64 && array_sum($shared) <= $given ? 'shared' : json_encode([$shared, $given]), "\n";

// The directive is for every DSN without lease=; 0 is none.
ini_set('token_bucket.lease', '16');
$default = new TokenBucket($redis->dsn(), 'directive', 10_000, 0.001);
echo $trips(160, $default->consume(...)) < 40 ? 'leased' : 'asked', ', ', $trips(20, (new TokenBucket($redis->dsn('lease=0'), 'none', 100, 1))->consume(...)), " trips without\n";
?>
--EXPECT--
7 10 trips
the server has given 767 of which 767 are used
leaky bucket: 7 trips
[true,false,5,9227,0]
[true,false]0 trips for a refund, peek true 0
.leases: in use
3 1 trips for more than the lease
check(): 20 trips of 20
reserve(): 20 trips of 20
takeUpTo(): 20 trips of 20
SlidingWindow: 20 trips of 20
Compound: 20 trips of 20
11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111110000000000 100 given
few trips for three quarters, 20 for 20 more
false blocked, 10000 after a reset
1 trip under another limit
closed: 54, then denied
throw: 54, then an exception
shared
leased, 20 trips without
