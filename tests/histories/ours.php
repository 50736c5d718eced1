<?php
/*
 * What is called of this project: single limits, compounds, permits and leases.
 */
use TokenBucket\{CalendarWindow, Compound, ConcurrencyLimit, Decision, FixedWindow, SlidingWindow, StorageException};

/** Operations on a limit. `attempt COST LEAVE`, `takeUpTo MOST LEAST`. */
const TAKES = ['attempt 1 0', 'attempt 1 0', 'attempt 1 0', 'attempt 3 0', 'attempt 1 5', 'takeUpTo 4 2', 'peek 1'];
const REFUNDS = ['refund 1', 'refund 2'];

/** A bucket and windows that hardly come back while they are called, and such that do. Limit, and seconds. */
const LIMITS = [
    ['token_bucket', 60, 60_000], ['token_bucket', 20, 0.05], ['fixed_window', 50, 3_600], ['fixed_window', 10, 0.02],
    ['sliding_window', 40, 3_600], ['sliding_window', 10, 0.02], ['calendar_hour', 50, 3_600],
];

/** One limit at a time. */
function limits(string $dsn, string $key, int $round): Round
{
    [$algorithm, $limit, $interval] = LIMITS[$round % count(LIMITS)];
    $make = fn () => match ($algorithm) {
        'token_bucket' => TokenBucket::per($dsn, $key, $limit, $interval),
        'fixed_window' => new FixedWindow($dsn, $key, $limit, $interval),
        'sliding_window' => new SlidingWindow($dsn, $key, $limit, $interval),
        'calendar_hour' => new CalendarWindow($dsn, $key, $limit, 'hour', 'UTC'),
    };
    // A sliding window gives back the latest hits, whoever took them.
    $ops = $algorithm === 'sliding_window' ? TAKES : [...TAKES, ...REFUNDS];
    // What a decision may still give back becomes less with time, which is not recorded.
    $settles = $interval > 1_000 && $algorithm !== 'sliding_window';
    $begin = $algorithm === 'calendar_hour' ? intdiv(time(), 3_600) * 3_600 : $interval;
    return new Round(["$algorithm $limit $begin"], function () use ($make, $ops, $settles, $dsn): Closure {
        $limiter = $make();
        $taken = null;
        return function () use ($limiter, $ops, $settles, &$taken, $dsn): array {
            if ($taken && mt_rand(0, 1)) {
                [$decision, $taken] = [$taken, null];
                $cost = mt_rand(1, 5);
                return ["settle {$decision->getTokens()} $cost", fn (): ?string => $decision->settle($cost) === null ? null : 'yes'];
            }
            $op = $ops[mt_rand(0, count($ops) - 1)];
            return [$op, function () use ($limiter, $op, $settles, &$taken, $dsn): ?string {
                $answer = answer_of($limiter, $op, $dsn);
                $taken = $settles && $answer instanceof Decision && $answer->getTokens() > 2 ? $answer : null;
                return $answer instanceof Decision ? told($answer, var_export($answer->getResetAfter(), true)) : $answer;
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
    $ops = ['attempt 1 0', 'attempt 1 0', 'attempt 3 0', 'attempt 1 5', 'only 0 2', 'only 1 1', 'peek 1', ...($is_one_trip ? REFUNDS : [])];
    return new Round(["counted 60 0 $lost", "counted 40 0 $lost"], fn (): Closure => function () use ($dsn, $key, $ops, $is_one_trip): array {
        static $limiters = null;
        $limiters ??= [TokenBucket::per($dsn, "{{$key}}a", 60, 60_000), new FixedWindow($dsn, "{{$key}}b", 40, 3_600)];
        $op = $ops[mt_rand(0, count($ops) - 1)];
        return [$op, function () use ($limiters, $op, $dsn, $is_one_trip): ?string {
            [$method, $member] = explode(' ', $op);
            $answer = $method === 'only'
                ? answer_of($limiters[$member], str_replace("only $member", 'attempt', $op), $dsn)
                : answer_of(new Compound(...$limiters), $op, $dsn);
            return match (true) {
                !$answer instanceof Decision => $answer,
                $is_one_trip => told($answer, '-'),
                default => $answer->isAccepted() ? 'yes' : 'no',
            };
        }];
    });
}

/** Permits: three at once. */
function permits(string $dsn, string $key): Round
{
    return new Round(['permits 3 60'], function () use ($dsn, $key): Closure {
        $limit = new ConcurrencyLimit($dsn, $key, 3, 60);
        $held = [];
        return function () use ($limit, &$held): array {
            if ($held && mt_rand(0, 2)) {
                return ['release', function () use (&$held): string {
                    array_pop($held)->release();
                    return 'yes';
                }];
            }
            return ['acquire', function () use ($limit, &$held): string {
                $permit = $limit->acquire();
                if ($permit) {
                    $held[] = $permit;
                }
                return $permit ? 'yes' : 'no';
            }];
        };
    });
}

/** A bucket of which this host takes ten tokens at a time. A stopped process's batch and that of a killed one are lost. */
function leases(string $dsn, string $key): Round
{
    return new Round(['counted 200 0 40'], function () use ($dsn, $key): Closure {
        $bucket = TokenBucket::per($dsn . (str_contains($dsn, '?') ? '&' : '?') . 'lease=10', $key, 200, 200_000);
        return function () use ($bucket, $dsn): array {
            $op = 'attempt ' . mt_rand(1, 3) . ' 0';
            return [$op, function () use ($bucket, $op, $dsn): ?string {
                $answer = answer_of($bucket, $op, $dsn);
                return $answer ? ($answer->isAccepted() ? 'yes' : 'no') : null;
            }];
        };
    });
}

/** The answer to an operation; null if it is not known. */
function answer_of(object $limiter, string $op, string $dsn): Decision|string|null
{
    $words = explode(' ', $op);
    $method = array_shift($words);
    try {
        $answer = $limiter->$method(...array_map(intval(...), $words));
    } catch (StorageException) {
        // The server is back soon: the next call asks it.
        TokenBucket\forget_server($dsn);
        usleep(1_000);
        return null;
    }
    return is_bool($answer) ? ($answer ? 'yes' : 'no') : $answer;
}

function told(Decision $decision, string $reset_after): string
{
    return ($decision->isAccepted() ? 'yes' : 'no') . ' ' . $decision->getRemainingTokens() . " $reset_after";
}
