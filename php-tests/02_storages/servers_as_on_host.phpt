--TEST--
Stores on servers: a decision gives back, a block denies and a Compound decides as on this host
--INI--
token_bucket.warn_of_mistakes=0
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.test_clock=1
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
use TokenBucket\{Compound, Decision, FixedWindow, LeakyBucket, Limiter, SlidingWindow, TestClock};

/** What a decision says; times are rounded. */
function summary(Decision $decision): array
{
    return [$decision->isAccepted(), $decision->getTokens(), $decision->getLimit(), $decision->getRemainingTokens(), $decision->getRetryAfterSeconds(),
        round($decision->getResetAfter(), 3), $decision->getDeniedBy(), $decision->isDegraded()];
}

/** The same calls on any store. */
function run(string $dsn, string $id): array
{
    $log = [];
    TestClock::freeze(1_000_000);
    $make = [
        'bucket' => fn (string $name) => TokenBucket::per($dsn, "$name:$id", 10, 100),
        'leaky' => fn (string $name) => new LeakyBucket($dsn, "$name:$id", 8, 100),
        'window' => fn (string $name) => new FixedWindow($dsn, "$name:$id", 10, 100),
        'sliding' => fn (string $name) => new SlidingWindow($dsn, "$name:$id", 10, 100),
        'compound' => fn (string $name) => new Compound(TokenBucket::per($dsn, "$name:$id", 10, 100), new FixedWindow($dsn, "$name-w:$id", 9, 100), new SlidingWindow($dsn, "$name-s:$id", 9, 100), new LeakyBucket($dsn, "$name-l:$id", 20, 100)),
    ];
    foreach ($make as $kind => $limiter) {
        TestClock::freeze(1_000_000);
        $limiter = $limiter("refund-$kind");
        $left = fn (): int => $limiter->peek(0)->getRemainingTokens();
        [$first, $second] = [$limiter->attempt(3), $limiter->attempt(4)];
        $log["$kind, refund"] = [$left(), $first->refund(), $left(), $first->refund(), $second->refund(), $left()];
        $limiter->consume(7);
        $log["$kind, nothing"] = [$limiter->attempt(9)->refund(), $limiter->peek()->refund(), $limiter->attempt(0)->refund(), $left()];
        $limiter->reset();
        $decision = $limiter->attempt(5);
        TestClock::advance(40);
        $log["$kind, later"] = [$left(), $decision->refund(), $left()];
        $limiter->reset();
        $decision = $limiter->attempt(5);
        TestClock::advance(101);
        $limiter->consume(2);
        // Of a bucket, tokens that are back count as given back.
        $log["$kind, too late"] = [$left(), in_array($kind, ['window', 'sliding'], true) && $decision->refund(), $left()];
        $limiter->reset();
        $decision = $limiter->attempt(5);
        $limiter->block(50);
        $log["$kind, blocked"] = [$decision->refund(), summary($limiter->attempt()), summary($limiter->peek(0))];
        TestClock::advance(20);
        $limiter->block(10);
        $limiter->refund(3);
        $log["$kind, later end"] = [$limiter->consume(), $limiter->attempt()->getRetryAfterSeconds()];
        $limiter->block(60);
        $log["$kind, longer"] = [$limiter->consume(0), $limiter->attempt()->getRetryAfterSeconds()];
        TestClock::advance(59.9);
        $log["$kind, nearly"] = [$limiter->consume()];
        TestClock::advance(0.2);
        $log["$kind, afterwards"] = summary($limiter->attempt(8));
        $limiter->block(900);
        $limiter->reset();
        $log["$kind, lifted"] = summary($limiter->attempt());
    }
    (new TokenBucket($dsn, "bare:$id"))->block(60);
    $log['bare'] = [TokenBucket::per($dsn, "bare:$id", 5, 60)->consume(), (new TokenBucket($dsn, "bare:$id", 5, 1))->check(), (new TokenBucket($dsn, 'bare'))->check($id, 5, 60)];
    (new TokenBucket($dsn, "bare:$id"))->reset();
    $log['bare, lifted'] = [TokenBucket::per($dsn, "bare:$id", 5, 60)->consume(5), (new TokenBucket($dsn, "bare:$id", 5, 1))->consume(5)];

    // A sliding window of many hits, and a clock that is set back and forth.
    TestClock::freeze(1_000_000);
    $sliding = new SlidingWindow($dsn, "steps:$id", 1_024, 100);
    foreach ([400, 300, 200, 124] as $i => $cost) {
        $log["sliding, $cost"] = [summary($sliding->attempt($cost)), summary($sliding->attempt(1_024)), $sliding->peek(1_000)->getRetryAfterSeconds()];
        TestClock::advance(25);
    }
    foreach ([40, 99.999999, 100, 1_000, -40, -50, -1_000, -100_000] as $i => $step) {
        // No hit has left before the step: a place in shared memory would count it again at an earlier time.
        $sliding->reset();
        $sliding->consume(600);
        TestClock::advance($step);
        $log["sliding, step $i"] = [summary($sliding->attempt(500)), summary($sliding->attempt(300)), $sliding->refund(200), summary($sliding->peek(1_024))];
    }

    // Random calls on a Compound of all kinds, and on its limits alone.
    mt_srand(5);
    $limits = [TokenBucket::per($dsn, "random-a:$id", 10, 20), new FixedWindow($dsn, "random-b:$id", 7, 9), new LeakyBucket($dsn, "random-c:$id", 12, 30), new TokenBucket(with($dsn, 'enforce=0'), "random-d:$id", 3, 1), new SlidingWindow($dsn, "random-e:$id", 7, 9)];
    $compound = new Compound(...$limits);
    for ($i = 0; $i < 150; $i++) {
        TestClock::advance(mt_rand(0, 2_000) / 1_000);
        $costs = array_map(fn () => mt_rand(0, 4), $limits);
        $log["random $i"] = match (mt_rand(0, 9)) {
            0 => $compound->consume($costs),
            1 => summary($compound->peek($costs)),
            2 => [$limits[$n = mt_rand(0, 4)]->refund($costs[$n]), $n],
            3 => summary($limits[$n = mt_rand(0, 4)]->attempt($costs[$n])),
            4 => [$compound->attempt($costs)->refund(), array_map(fn (Limiter $limit) => $limit->peek(0)->getRemainingTokens(), $limits)],
            default => summary($compound->attempt($costs)),
        };
    }
    return $log;
}

ini_set('token_bucket.deny_cache', '0');
$expected = run('array:', 'x');
echo count(array_filter($expected, fn ($entry, $key) => str_starts_with($key, 'random') && is_array($entry) && $entry[0] === true, ARRAY_FILTER_USE_BOTH)) > 30 ? "some are accepted\n" : "few are accepted\n";
foreach (['TB_SHM' => 'shm:servers_as_on_host', ...server_dsns()] as $name => $dsn) {
    $log = run($dsn, bin2hex(random_bytes(8)));
    $differ = array_filter(array_keys($expected), fn (string $key): bool => $log[$key] !== $expected[$key]);
    echo $name, ': ', count($differ), " differ\n";
    foreach (array_slice($differ, 0, 5) as $key) {
        echo "  $key: ", json_encode($log[$key]), ', not ', json_encode($expected[$key]), "\n";
    }
}
?>
--EXPECT--
some are accepted
TB_SHM: 0 differ
TB_REDIS: 0 differ
TB_REDIS_UNIX: 0 differ
TB_REDIS_TLS: 0 differ
TB_REDIS_CLUSTER: 0 differ
TB_REDIS_SENTINEL: 0 differ
TB_MEMCACHED: 0 differ
TB_MEMCACHED_UNIX: 0 differ
TB_MEMCACHED_TWO: 0 differ
TB_MARIADB: 0 differ
TB_MARIADB_UNIX: 0 differ
TB_MARIADB_TLS: 0 differ
TB_MYSQL: 0 differ
TB_MYSQL_UNIX: 0 differ
TB_MYSQL_TLS: 0 differ
