--TEST--
Servers: a denied client is denied without asking the server, exactly until its next token
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.warn_of_mistakes=0
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';

foreach (['redis', 'memcached'] as $kind) {
    $server = new Server($kind);
    $asked = fn (): int => $kind === 'redis' ? $server->commands()['evalsha'] ?? 0 : array_sum(memcached_commands($server->port));
    $during = function (callable $work) use ($asked): int {
        $before = $asked();
        $work();
        return $asked() - $before;
    };
    $bucket = new TokenBucket($server->dsn(), 'x', 2, 0.1);
    $bucket->consume(2);
    var_dump($bucket->consume());
    $denied = 0;
    echo $kind, ': ', $during(function () use ($bucket, &$denied): void {
        $end = hrtime(true) + 5e8;
        while (hrtime(true) < $end) {
            $denied += (int) !$bucket->consume();
        }
    }), ' asked, ', $denied > 1_000 ? 'many' : $denied, " denied\n";

    $decision = $bucket->attempt(2);
    var_dump($decision->isAccepted(), $decision->isDegraded(), $decision->getRemainingTokens());
    var_dump($decision->getRetryAfter() > 15 && $decision->getRetryAfter() <= 20);

    // What gives back, clears; by an object of another limit too.
    $bucket->refund();
    var_dump($bucket->consume(), $bucket->consume());
    (new TokenBucket($server->dsn(), 'x', 7, 1))->reset();
    var_dump($bucket->consume(2), $bucket->consume());
    // A limit that was raised counts at once.
    var_dump((new TokenBucket($server->dsn(), 'x', 5, 0.1))->consume());

    // check() charges what it denies: it always asks.
    echo $during(function () use ($bucket): void {
        for ($i = 0; $i < 10; $i++) {
            $bucket->check();
        }
    }) >= 10 ? "asked\n" : "not asked\n";

    ini_set('token_bucket.deny_cache', '0');
    $bucket = new TokenBucket($server->dsn(), 'z', 1, 0.1);
    $bucket->consume();
    echo $during(function () use ($bucket): void {
        for ($i = 0; $i < 10; $i++) {
            $bucket->consume();
        }
    }), " asked\n";
    ini_restore('token_bucket.deny_cache');

    // Not too long either: as soon as there is a token it can be had.
    $bucket = new TokenBucket($server->dsn(), 'soon', 1, 20);
    $taken = 0;
    $start = hrtime(true);
    $took = milliseconds(function () use ($bucket, &$taken): void {
        while ($taken < 5) {
            $taken += (int) $bucket->consume();
        }
    });
    var_dump($took >= 199.9 && $took < 1_000);
}
?>
--EXPECT--
bool(false)
redis: 0 asked, many denied
bool(false)
bool(false)
int(0)
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
asked
10 asked
bool(true)
bool(false)
memcached: 0 asked, many denied
bool(false)
bool(false)
int(0)
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
asked
10 asked
bool(true)
