--TEST--
Vectors: every store passes the test vectors of other limiters
--INI--
token_bucket.test_clock=1
--FILE--
<?php
/*
 * tests/vectors/token_bucket.json holds facts from the suites of throttled, governor, bucket4j and
 * others. Each step is played through TokenBucket; steps that have no method of their own are made
 * of those there are, as said below.
 */
use TokenBucket\Decision;
use TokenBucket\TestClock;

/** Plays a step; what can be compared with its expectation. */
function play(TokenBucket $bucket, array $step, float $rate): array
{
    $cost = $step['cost'] ?? 0;
    // What is left, which getRemainingTokens() tells from zero up; below that, the time until
    // there is one token tells.
    $available = fn (Decision $d) => $d->isAccepted()
        ? $d->getLimit() - $d->getResetAfter() * $rate
        : 1 - $d->getRetryAfter() * $rate;
    switch ($step['op']) {
        case 'consume':
            return told($bucket->attempt($cost));
        case 'peek':
        case 'estimate':
            return told($bucket->peek($cost));
        case 'reserve':
            $decision = $bucket->reserve($cost);
            return ['ok' => $decision->isAccepted(), 'wait_s' => $decision->getWait()];
        case 'force': // check() takes a token whether it is there or not
            for ($i = 0; $i < $cost; $i++) {
                $bucket->check();
            }
            return ['available' => $available($bucket->peek())];
        case 'consume_up_to': // what is left, at most
            $cost = min($cost, $bucket->peek()->getRemainingTokens());
            $bucket->consume($cost);
            return ['consumed' => $cost];
        case 'available':
            return ['available' => $available($bucket->peek())];
        case 'refund':
            $bucket->refund($cost);
            return ['available' => $available($bucket->peek())];
    }
    return ['unknown op' => $step['op']];
}

function told(Decision $decision): array
{
    return [
        'allowed' => $decision->isAccepted(),
        'remaining' => $decision->getRemainingTokens(),
        'never' => $decision->getRetryAfter() === INF,
        'retry_after_s' => $decision->getRetryAfter(),
        'reset_after_s' => $decision->getResetAfter(),
    ];
}

function same(mixed $found, mixed $expected): bool
{
    return is_bool($found) ? $found === (bool) $expected : abs($found - $expected) < 1e-6;
}

require dirname(__DIR__) . '/servers.inc';

$steps = [];
foreach (['shm' => 'shm:', 'array' => 'array:'] + server_dsns() as $name => $dsn) {
    // Servers outlive a test: it has keys of its own.
    $dsn = with($dsn, 'on_error=throw&timeout_ms=10000&connect_timeout_ms=20000&prefix=' . bin2hex(random_bytes(4)));
    $steps[$name] = 0;
    foreach (json_decode(file_get_contents(__DIR__ . '/../../tests/vectors/token_bucket.json'), true) as $vector) {
        $limit = $vector['limits'][0];
        $rate = $limit['refill_tokens'] / $limit['refill_period_s'];
        TestClock::freeze(1_000_000);
        $bucket = new TokenBucket($dsn, 'vector-' . $vector['id'], $limit['capacity'], $rate);
        $bucket->consume($limit['capacity'] - $limit['initial']);
        $now = 0.0;
        foreach ($vector['steps'] as $number => $step) {
            TestClock::advance($step['t_s'] - $now);
            $now = $step['t_s'];
            $found = play($bucket, $step, $rate);
            foreach ($step['expect'] as $what => $expected) {
                if (!array_key_exists($what, $found) || !same($found[$what], $expected)) {
                    printf("%s %s step %d: %s is %s, expected %s\n", $name, $vector['id'], $number, $what,
                        var_export($found[$what] ?? null, true), var_export($expected, true));
                }
            }
            $steps[$name]++;
        }
    }
}
echo implode(' ', array_unique($steps)), " steps on each of ", count($steps), " stores\n";
?>
--EXPECT--
55 steps on each of 16 stores
