--TEST--
A limit's numbers change while calls run: a call is settled by its own cost, and a denied call corrects what other numbers made
--INI--
token_bucket.warn_of_mistakes=0
token_bucket.on_error=throw
token_bucket.timeout_ms=20000
token_bucket.connect_timeout_ms=20000
token_bucket.test_clock=1
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
use TokenBucket\{CalendarWindow, Compound, FirstOf, FixedWindow, LeakyBucket, Limiter, SlidingWindow, TestClock};

const KINDS = ['bucket', 'leaky', 'fixed', 'sliding'];

function make(string $kind, string $dsn, string $id, int $limit, int $interval): Limiter
{
    return match ($kind) {
        'bucket' => TokenBucket::per($dsn, $id, $limit, $interval),
        'leaky' => new LeakyBucket($dsn, $id, $limit, $interval),
        'fixed' => new FixedWindow($dsn, $id, $limit, $interval),
        'sliding' => new SlidingWindow($dsn, $id, $limit, $interval),
    };
}

/** How many calls are accepted now. */
function count_accepted(Limiter $limiter): int
{
    for ($n = 0; $limiter->consume(); $n++);
    return $n;
}

/** A request begins under the old numbers and ends once the new limit has been used up. Returns how many calls that accepts in all. */
function settle_late(string $kind, string $dsn, string $id, array $old, array $new, int $cost): int
{
    TestClock::freeze(1_000_000);
    $decision = make($kind, $dsn, $id, ...$old)->attempt();
    $limiter = make($kind, $dsn, $id, ...$new);
    TestClock::advance($kind === 'fixed' || $kind === 'sliding' ? 11 : 0);
    $accepted = count_accepted($limiter);
    $decision->settle($cost);
    $accepted += count_accepted($limiter);
    TestClock::advance(10.1);
    return $accepted + count_accepted($limiter);
}

/** After how many seconds a call is accepted, if each denied one waits as long as it was asked to. */
function wait_for(Limiter $limiter): float
{
    for ($seconds = 0.0, $tries = 0; !($decision = $limiter->attempt())->isAccepted() && $tries < 20; $tries++) {
        $seconds += $decision->getRetryAfter();
        TestClock::advance($decision->getRetryAfter());
    }
    return round($seconds, 3);
}

/** What is wrong with a store; nothing, if it is right. */
function faults(string $dsn, string $u): Generator
{
    foreach (KINDS as $kind) {
        foreach ([0, 2] as $cost) {
            $accepted = settle_late($kind, $dsn, "longer-$kind-$cost:$u", [10, 10], [10, 3_600], $cost);
            if ($accepted > 10) yield "$kind, settle($cost) after the interval was lengthened: $accepted of 10";
            $accepted = settle_late($kind, $dsn, "higher-$kind-$cost:$u", [10, 3_600], [40, 3_600], $cost);
            if ($accepted > 40) yield "$kind, settle($cost) after the limit was raised: $accepted of 40";
        }
        foreach (['alone', 'first', 'last', 'first of two', 'last of two'] as $place) {
            TestClock::freeze(1_000_000);
            $id = str_replace(' ', '-', "$place-$kind:$u");
            make($kind, $dsn, $id, 1, 3_600)->consume();
            $limiter = make($kind, $dsn, $id, 1, 1);
            $other = TokenBucket::per($dsn, "other-$id", 1, 3_600);
            if (str_ends_with($place, 'of two')) $other->consume();
            $set = match ($place) {
                'alone' => $limiter,
                'first' => new Compound($limiter, $other),
                'last' => new Compound($other, $limiter),
                'first of two' => new FirstOf($limiter, $other),
                'last of two' => new FirstOf($other, $limiter),
            };
            $seconds = wait_for($set);
            if ($seconds > 1.0) yield "$kind, $place, after the interval was shortened: a wait of $seconds s";
            // Ten days back: a clock that was wrong.
            TestClock::freeze(136_000);
            $limiter->reset();
            TestClock::freeze(1_000_000);
            $limiter->consume();
            TestClock::freeze(136_000);
            $other->reset();
            if (str_ends_with($place, 'of two')) $other->consume();
            $seconds = wait_for($set);
            if ($seconds > 1.0) yield "$kind, $place, after the clock went back: a wait of $seconds s";
        }
    }
    foreach (KINDS as $kind) {
        // A rolling deployment: old and new workers side by side, and a client that does not stop.
        foreach ([[[10, 10], [10, 3_600]], [[1, 10], [100, 3_600]]] as [$short, $long]) {
            TestClock::freeze(1_000_000);
            $id = "mix-$kind-$long[0]:$u";
            [$short_limiter, $long_limiter] = [make($kind, $dsn, $id, ...$short), make($kind, $dsn, $id, ...$long)];
            for ($accepted = $second = 0; $second < 30; $second += 3) {
                for ($i = 0; $i < 5; $i++) {
                    $accepted += count_accepted($long_limiter) + $short_limiter->consume();
                }
                TestClock::advance(3);
            }
            // What both buckets hold, and what the faster one gets back; the larger limit in each of the shorter windows.
            $allowed = $kind === 'bucket' || $kind === 'leaky' ? $short[0] + $long[0] + 30 * $short[0] / $short[1] : 3 * $long[0];
            if ($accepted > $allowed) yield "$kind, old and new workers: $accepted, not $allowed";
        }
    }
    foreach (['settle', 'reserve', 'check'] as $how) {
        TestClock::freeze(1_000_000);
        $old = TokenBucket::per($dsn, "debt-$how:$u", 10, 86_400);
        match ($how) {
            'settle' => $old->attempt(10)->settle(20),
            'reserve' => [$old->consume(10), $old->reserve(10)],
            'check' => array_map(fn () => $old->check(), range(1, 20)),
        };
        $seconds = wait_for(TokenBucket::per($dsn, "debt-$how:$u", 10, 10));
        if ($seconds > 20.0) yield "a debt of $how() after the interval was shortened: a wait of $seconds s";
    }
    foreach ([['month', 'UTC', '2026-01-10 12:00', '2026-04-10 12:00', '2026-04-27 12:00'], ['day', 'Europe/Berlin', '2026-10-24 12:00', '2026-10-27 12:00', '2026-10-27 23:30'],
        ['week', 'Europe/Berlin', '2026-03-18 12:00', '2026-04-08 12:00', '2026-04-12 23:30']] as [$unit, $zone, $taken, $used, $later]) {
        foreach ([1, 2, 0] as $cost) {
            $freeze = fn (string $time) => TestClock::freeze((new DateTimeImmutable($time, new DateTimeZone($zone)))->getTimestamp());
            $freeze($taken);
            $window = new CalendarWindow($dsn, "late-$cost-$unit:$u", 10, $unit, $zone);
            $decision = $window->attempt();
            $freeze($used);
            for ($i = 0; $i < 9; $i++) $window->consume();
            if ($cost !== 1 && $decision->settle($cost)) yield "$unit, settle($cost) of an ended window: true";
            $more = count_accepted($window);
            $freeze($later);
            $more += count_accepted($window);
            if ($more !== 1) yield "$unit, settle($cost) of an ended window: $more more instead of 1";
        }
    }
    TestClock::freeze(1_000_000);
    $window = new FixedWindow($dsn, "stream:$u", 10, 60);
    $stream = $window->attempt();
    TestClock::advance(61);
    $window->consume(4);
    if ($stream->settle(5) !== false || $window->peek(0)->getRemainingTokens() !== 6) yield 'a stream charges the next window';
}

$all = [...server_dsns(), 'array:', 'shm:'];
foreach ($all as $dsn) {
    foreach (faults($dsn, bin2hex(random_bytes(4))) as $fault) {
        echo strtok($dsn, ':'), ": $fault\n";
    }
}
echo 'stores: ', count($all) >= 3 ? 'tried' : 'none', "\n";
?>
--EXPECT--
stores: tried
