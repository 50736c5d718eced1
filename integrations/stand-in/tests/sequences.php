<?php

/*
 * Random calls on limiters under a frozen clock: prints each call and its answer. The extension and the stand-in print the same.
 * Usage: sequences.php SEED CALLS DSN, with token_bucket.storage=DSN and token_bucket.limits=tests/limits.ini
 */

declare(strict_types=1);

use TokenBucket\{CalendarWindow, Compound, ConcurrencyLimit, Decision, FirstOf, FixedWindow, LeakyBucket, Limiter, SlidingWindow, TestClock};
use function TokenBucket\limiter;

[, $seed, $calls, $dsn] = $argv;
mt_srand((int) $seed);

function one_of(mixed ...$values): mixed
{
    return $values[mt_rand(0, count($values) - 1)];
}

/** A limiter of one of a few identifiers, often with other numbers than the last one. */
function any_limiter(string $dsn, bool $isSingle = false): object
{
    $id = one_of('a', 'b');
    $seconds = one_of(1, 10, 60, 0.1, 1 / 3, 7.25, 3600, 86400 * 365);
    $count = one_of(1, 2, 3, 5, 7, 10, 100, 1000);
    $name = one_of(null, null, 'named');
    return match (mt_rand(0, $isSingle ? 9 : 12)) {
        0, 1 => TokenBucket::per($dsn, "$id:bucket", $count, $seconds, $name),
        2 => new TokenBucket($dsn, "$id:bucket", $count, one_of(1, 0.1, 10 / 300, 3, 7.3, 0.001, 1e-3 / 7, 1e6, 123456.789), $name),
        3 => new LeakyBucket($dsn, "$id:bucket", $count, $seconds, $name),
        4 => new FixedWindow($dsn, "$id:window", $count, $seconds, $name),
        // In shared memory of the extension a smaller limit sees fewer of the hits: there the numbers of an identifier do not change.
        5, 6 => new SlidingWindow($dsn, $dsn === 'array:' ? "$id:window" : "$id:window $count $seconds", min($count, 10), $seconds, $name),
        7 => calendar($dsn, $id, $count, $name, $isSingle),
        8, 9 => limiter(one_of('bucket', 'rest', 'rest', 'leaky', 'fixed', 'sliding', 'calendar'), one_of('a', 'staff', '10.1.2.3', '10.1.2.4')),
        10 => limiter(one_of('both', 'either'), one_of('a', 'staff', '10.1.2.3', '10.1.2.4')),
        11 => compound($dsn),
        12 => new FirstOf(TokenBucket::per($dsn, "$id:first", $count, $seconds), new FixedWindow($dsn, "$id:second", 5, $seconds)),
    };
}

function calendar(string $dsn, string $id, int $count, ?string $name, bool $isPart): CalendarWindow
{
    [$unit, $zone] = [one_of('hour', 'day', 'week', 'month', 'year'), one_of('UTC', 'Europe/Berlin')];
    // A compound that is denied in the extension's memory leaves a window of another unit as it is, if it has no hits.
    return new CalendarWindow($dsn, $isPart ? "$id:window $unit $zone" : "$id:window", $count, $unit, $zone, $name);
}

function compound(string $dsn): Compound
{
    $limiters = [];
    foreach (range(0, mt_rand(0, 3)) as $i) {
        $limiters[] = any_limiter($dsn, true);
    }
    try {
        return new Compound(...$limiters);
    } catch (ValueError) {
        // Two of one bucket.
        return new Compound($limiters[0]);
    }
}

function describe(mixed $answer): string
{
    if (!$answer instanceof Decision) {
        return json_encode($answer);
    }
    $problem = $answer->isAccepted() ? null : $answer->getProblem();
    return json_encode([$answer, $answer->getTokens(), $answer->getDeniedBy(), $answer->getChargedTo(), $answer->getHeaders(), $problem]);
}

/** A call on a limiter. */
function call(object $limiter, array &$decisions): mixed
{
    $most = one_of(0, 1, 1, 1, 2, 3, 5, 10, 2000);
    $single = !$limiter instanceof Compound && !$limiter instanceof FirstOf;
    return match (mt_rand(0, 13)) {
        0, 1, 2 => $limiter->consume($most),
        3, 4, 5 => $decisions[] = $limiter->attempt($most, one_of(0, 0, 1, 2)),
        6 => $limiter->peek($most, one_of(0, 1)),
        7 => $limiter->refund($most),
        8 => mt_rand(0, 3) ? null : $limiter->reset(),
        9 => mt_rand(0, 5) ? null : $limiter->block(one_of(0.5, 1, 30, 1e6)),
        10 => $single && method_exists($limiter, 'takeUpTo') ? $decisions[] = $limiter->takeUpTo($most, one_of(1, max(1, $most)), one_of(0, 1)) : null,
        11, 12 => method_exists($limiter, 'reserve') ? $decisions[] = $limiter->reserve($most, one_of(null, 0.5, 30.0)) : null,
        13 => $limiter instanceof TokenBucket ? $limiter->check(one_of(null, 'x'), one_of(null, 5), one_of(10.0, 300.0)) : null,
    };
}

TestClock::freeze(1_700_000_000);
$decisions = [];
$permits = [];
for ($i = 0; $i < (int) $calls; $i++) {
    // In shared memory of the extension a permit whose lifetime has ended comes back with a clock that goes back.
    $back = $dsn === 'array:' ? [-1, -100] : [0, 2];
    $step = one_of(0, 0, 0, 0.001, 0.1, 1, 1.000000001, 30, 600, 3600, 86400, ...$back);
    TestClock::advance($step);
    switch (mt_rand(0, 9)) {
        case 0:
            $last = array_pop($decisions);
            $done = $last === null ? null : (mt_rand(0, 1) ? $last->settle(one_of(0, 1, 3, 20)) : $last->refund());
            echo "$i $step settle ", describe([$done, $last]), "\n";
            break;
        case 1:
            // Nor does the limit of an identifier's permits: each has a place there.
            [$id, $most] = one_of(['p', 1], ['q', 3]);
            $limit = new ConcurrencyLimit($dsn, $id, $dsn === 'array:' ? one_of(1, 2, 3) : $most, one_of(1.0, 60.0));
            $permits[] = $limit->acquire(one_of(0, 0, 1));
            echo "$i $step acquire ", json_encode(end($permits) !== null), $limit->getActive(), "\n";
            break;
        case 2:
            $permit = array_shift($permits);
            mt_rand(0, 1) && $permit?->release();
            echo "$i $step renew ", json_encode($permit?->renew(one_of(null, 5.0))), "\n";
            $permits[] = $permit;
            break;
        default:
            $limiter = any_limiter($dsn);
            try {
                $told = describe(call($limiter, $decisions));
            } catch (LogicException $e) {
                // A limit that leaves tokens has no reservations.
                $told = $e->getMessage();
            }
            // What is left, also of tokens that its calls leave to others.
            echo "$i $step ", $limiter::class, " $told ", describe($limiter->peek(0)), "\n";
    }
    if (count($decisions) > 20) {
        array_shift($decisions);
    }
}
