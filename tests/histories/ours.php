<?php
/*
 * What is called of this project: single limits, compounds, permits and leases.
 */
use TokenBucket\{CalendarWindow, Compound, ConcurrencyLimit, Decision, FixedWindow, SlidingWindow, StorageException, TestClock};

/** Operations on a limit. `attempt COST LEAVE`, `takeUpTo MOST LEAST`. */
const TAKES = ['attempt 1 0', 'attempt 1 0', 'attempt 1 0', 'attempt 3 0', 'attempt 1 5', 'takeUpTo 4 2', 'peek 1'];
const REFUNDS = ['refund 1', 'refund 2'];

/** A bucket and windows that hardly come back while they are called, and such that do. Limit, and seconds. */
const LIMITS = [
    ['token_bucket', 60, 65_000], ['token_bucket', 20, 0.05], ['fixed_window', 50, 3_600], ['fixed_window', 10, 0.02],
    ['sliding_window', 40, 3_600], ['sliding_window', 10, 0.02], ['calendar_hour', 50, 3_600],
];

/** One limit at a time. */
function limits(string $dsn, string $key, int $round): Round
{
    [$algorithm, $limit, $interval] = LIMITS[$round % count(LIMITS)];
    $make = fn (float $interval, string $unit = 'hour') => match ($algorithm) {
        'token_bucket' => TokenBucket::per($dsn, $key, $limit, $interval),
        'fixed_window' => new FixedWindow($dsn, $key, $limit, $interval),
        'sliding_window' => new SlidingWindow($dsn, $key, $limit, $interval),
        'calendar_hour' => new CalendarWindow($dsn, $key, $limit, $unit, 'UTC'),
    };
    // A sliding window gives back the latest hits, whoever took them; a calendar window takes all hits or none.
    $ops = match ($algorithm) {
        'sliding_window' => TAKES,
        'calendar_hour' => [...preg_grep('/^takeUpTo/', TAKES, PREG_GREP_INVERT), ...REFUNDS],
        default => [...TAKES, ...REFUNDS],
    };
    // There the hits of a window are taken one by one, and what is left is counted beside other calls.
    $is_one_by_one = $algorithm === 'sliding_window' && str_starts_with($dsn, 'shm:');
    // What a decision may still give back becomes less with time, which is not recorded.
    $settles = $interval > 1_000 && $algorithm !== 'sliding_window';
    $begin = $algorithm === 'calendar_hour' ? intdiv(time(), 3_600) * 3_600 : $interval;
    $model = $is_one_by_one ? 'sliding_window_one_by_one' : $algorithm;
    return new Round(["$model $limit $begin"], function () use ($make, $ops, $interval, $settles, $is_one_by_one): Closure {
        [$limiter, $looker] = [$make($interval), $make($interval / 10_000, 'day')];
        $taken = null;
        return function () use ($limiter, $looker, $ops, $settles, $is_one_by_one, &$taken): array {
            // A look changes nothing, whatever its numbers, so it is not recorded.
            mt_rand(0, 3) || answered(fn () => $looker->peek(mt_rand(0, 1)), $limiter);
            if ($taken && mt_rand(0, 1)) {
                return settled($taken, $limiter);
            }
            $op = $ops[mt_rand(0, count($ops) - 1)];
            return [$op, function () use ($limiter, $op, $settles, $is_one_by_one, &$taken): ?string {
                $answer = answer_of($limiter, $op);
                $taken = $settles && $answer instanceof Decision && $answer->getTokens() > 2 ? $answer : null;
                return match (true) {
                    !$answer instanceof Decision => $answer,
                    $is_one_by_one => $answer->isAccepted() ? 'yes' : 'no',
                    default => told($answer, var_export($answer->getResetAfter(), true)),
                };
            }];
        };
    });
}

/** Two limits at once, and each of them alone. */
function compound(string $dsn, string $key): Round
{
    // Elsewhere it is one call after the other: another call may be denied meanwhile, and a killed process leaves its charges.
    $is_one_trip = (bool) preg_match('/^(redis|mysql)/', $dsn);
    $lost = $is_one_trip ? 0 : 2 * 3 * PROCESSES;
    $ops = ['attempt 1 0', 'attempt 1 0', 'attempt 3 0', 'attempt 1 5', 'only 0 2', 'only 1 1', 'peek 1'];
    return new Round(["counted 60 0 $lost", "counted 40 0 $lost"], function () use ($dsn, $key, $ops, $is_one_trip): Closure {
        // One node of a cluster has both.
        $limiters = [TokenBucket::per($dsn, "{{$key}}a", 60, 65_000), new FixedWindow($dsn, "{{$key}}b", 40, 3_600)];
        $compound = new Compound(...$limiters);
        $taken = null;
        return function () use ($limiters, $compound, $ops, $is_one_trip, &$taken): array {
            if ($taken && mt_rand(0, 1)) {
                return settled($taken, $compound);
            }
            $op = $ops[mt_rand(0, count($ops) - 1)];
            return [$op, function () use ($limiters, $compound, $op, $is_one_trip, &$taken): ?string {
                [$method, $member] = explode(' ', $op);
                $answer = $method === 'only'
                    ? answer_of($limiters[$member], str_replace("only $member", 'attempt', $op))
                    : answer_of($compound, $op);
                $taken = $is_one_trip && $op === 'attempt 3 0' && $answer instanceof Decision && $answer->isAccepted() ? $answer : null;
                return match (true) {
                    !$answer instanceof Decision => $answer,
                    $is_one_trip => told($answer, '-'),
                    default => $answer->isAccepted() ? 'yes' : 'no',
                };
            }];
        };
    });
}

/**
 * A limit whose numbers change, as in a rolling deployment: a process makes its first calls with the old numbers, then with either, the
 * last ones with the new. By a test's clock, which a microsecond of this machine moves on by 31: so each answer is known exactly.
 */
function numbers(string $dsn, string $key, int $round): Round
{
    // In shared memory a sliding window with a lower limit looks at fewer places.
    $kinds = ['token_bucket', 'fixed_window', 'calendar_hour', ...(str_starts_with($dsn, 'shm:') ? [] : ['sliding_window'])];
    $kind = $kinds[$round % count($kinds)];
    // Longer, shorter, higher, lower, and both; limit and seconds.
    [$old, $new] = [[[10, 2], [10, 60]], [[10, 60], [10, 2]], [[5, 10], [20, 10]], [[20, 10], [5, 10]], [[20, 60], [3, 2]], [[3, 2], [20, 60]]][intdiv($round, count($kinds)) % 6];
    $begin = intdiv(1_000_000 + intdiv(tick(), 64), 3_600) * 3_600;
    $limits = array_map(fn (array $it): string => "numbers_$kind $it[0] " . ($kind === 'calendar_hour' ? $begin : $it[1]) . ' 0', [$old, $new]);
    return new Round($limits, function () use ($dsn, $key, $kind, $old, $new): Closure {
        $make = fn (array $it) => match ($kind) {
            'token_bucket' => TokenBucket::per($dsn, $key, ...$it),
            'fixed_window' => new FixedWindow($dsn, $key, ...$it),
            'calendar_hour' => new CalendarWindow($dsn, $key, $it[0], 'hour', 'UTC'),
            'sliding_window' => new SlidingWindow($dsn, $key, ...$it),
        };
        $limiters = [$make($old), $make($new)];
        [$calls, $taken] = [0, null];
        return function () use ($kind, $limiters, &$calls, &$taken): array {
            $numbers = match (true) {
                $calls < CALLS / 4 => 0,
                $calls < CALLS * 3 / 4 => mt_rand(0, 1),
                default => 1,
            };
            $calls++;
            $tick = tick();
            TestClock::freeze(1_000_000 + $tick / 64);
            $now = 1_000_000_000_000_000 + $tick * 15_625_000;
            if ($taken && mt_rand(0, 1)) {
                [$decision, $taken, $cost] = [$taken, null, mt_rand(0, 4)];
                return ["at $now settle $cost", function () use ($decision, $cost): ?string {
                    try {
                        return match ($decision->settle($cost)) { true => 'yes', false => 'no', null => null };
                    } catch (StorageException) {
                        return null;
                    }
                }];
            }
            // A settlement after a reset or a block is of another window.
            $op = match ($chosen = mt_rand(0, 15)) {
                0 => 'reset',
                1 => 'block 1',
                default => $chosen < 5 && $kind !== 'calendar_hour' ? 'takeUpTo 4 2' : 'attempt ' . mt_rand(1, 3) . ' 0',
            };
            return ["by $numbers $now $op", function () use ($limiters, $numbers, $op, &$taken): ?string {
                $answer = answer_of($limiters[$numbers], $op);
                $taken = $answer instanceof Decision && $answer->getTokens() > 0 ? $answer : null;
                return $answer instanceof Decision ? told($answer, var_export($answer->getResetAfter(), true)) : $answer;
            }];
        };
    });
}

/** The time of the test's clock: 64ths of a second, which a float holds exactly, also in nanoseconds. */
function tick(): int
{
    return intdiv(now() % 1_000_000_000_000, 500_000);
}

/** Permits: three at once; every second call leaves one. In shared memory it may be denied beside others, though one could be had. */
function permits(string $dsn, string $key): Round
{
    return new Round([str_starts_with($dsn, 'shm:') ? 'permits 3 60 3' : 'permits 3 60'], function () use ($dsn, $key): Closure {
        $limit = new ConcurrencyLimit($dsn, $key, 3, 60);
        $held = [];
        return function () use ($limit, &$held): array {
            if ($held && mt_rand(0, 2)) {
                return ['release', function () use (&$held): string {
                    array_pop($held)->release();
                    return 'yes';
                }];
            }
            $leave = mt_rand(0, 1);
            return ["acquire $leave", function () use ($limit, $leave, &$held): string {
                $permit = $limit->acquire($leave);
                if ($permit) {
                    $held[] = $permit;
                }
                return $permit ? 'yes' : 'no';
            }];
        };
    });
}

/** A bucket or window of which this host takes ten tokens at a time. A stopped process's batch and that of a killed one are lost. */
function leases(string $dsn, string $key, int $round): Round
{
    return new Round(['counted 200 0 40'], function () use ($dsn, $key, $round): Closure {
        $dsn .= (str_contains($dsn, '?') ? '&' : '?') . 'lease=10';
        $limiter = match ($round % 3) {
            0 => TokenBucket::per($dsn, $key, 200, 200_000),
            1 => new FixedWindow($dsn, $key, 200, 200_000),
            2 => new CalendarWindow($dsn, $key, 200, 'year', 'UTC'),
        };
        return function () use ($limiter): array {
            $op = 'attempt ' . mt_rand(1, 3) . ' 0';
            return [$op, function () use ($limiter, $op): ?string {
                $answer = answer_of($limiter, $op);
                return $answer instanceof Decision ? ($answer->isAccepted() ? 'yes' : 'no') : null;
            }];
        };
    });
}

/** A bucket in a table that other keys fill between its calls. What it owed when it was evicted it owes when it is back, or more. */
function flood(string $dsn, string $key): Round
{
    return new Round(['counted 60 0 60'], function () use ($dsn, $key): Closure {
        $bucket = TokenBucket::per($dsn, $key, 60, 65_000);
        return function () use ($bucket, $dsn, $key): array {
            static $others = 0;
            for ($i = 0; $i < 500; $i++) {
                TokenBucket::per($dsn, "$key-" . getmypid() . '-' . $others++, 2, 2_000_000)->consume();
            }
            return ['attempt 1 0', fn (): string => $bucket->consume() ? 'yes' : 'no'];
        };
    });
}

/** The operation that settles what a decision of a limiter took, which is forgotten. */
function settled(?Decision &$taken, object $limiter): array
{
    [$decision, $taken] = [$taken, null];
    $cost = mt_rand(1, 5);
    return ["settle {$decision->getTokens()} $cost", fn (): ?string => answered(fn () => $decision->settle($cost), $limiter)];
}

/** The answer to an operation; null if it is not known. */
function answer_of(object $limiter, string $op): Decision|string|null
{
    $words = explode(' ', $op);
    $method = array_shift($words);
    // reset() and block() return nothing.
    return answered(fn () => $limiter->$method(...array_map(intval(...), $words)) ?? true, $limiter);
}

/** The answer of a call; null if it is not known. A refund that was not done may have come too late. */
function answered(Closure $call, object $limiter): Decision|string|null
{
    try {
        $answer = $call();
    } catch (StorageException) {
        // A peek changes nothing, so no history has it. Without a server each call would be waited for: twenty minutes in all.
        wait_until(fn (): bool => is_answered($limiter->peek(...)));
        return null;
    }
    return $answer instanceof Decision ? $answer : ($answer ? 'yes' : null);
}

/** Whether the server answers a call, for which this waits a little. */
function is_answered(Closure $call): bool
{
    usleep(30_000);
    try {
        $call();
        return true;
    } catch (StorageException) {
        return false;
    }
}

function told(Decision $decision, string $reset_after): string
{
    return ($decision->isAccepted() ? 'yes' : 'no') . ' ' . $decision->getRemainingTokens() . " $reset_after";
}
