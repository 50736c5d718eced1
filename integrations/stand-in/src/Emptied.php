<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * A bucket that was found emptier than its limit allows: an operator has shortened the interval, or a clock went back. It is kept by two
 * times, which limits of any length share: when it was empty, by any numbers, and when it is full by those that made it.
 *
 *     fullAt = min(at + debt + capacity * interval, at + reach)
 */
final class Emptied
{
    /** The state of a bucket that is empty at `at`, owes this, and is full at `fullAt`. */
    public static function state(int $at, int $debt, int $fullAt): array
    {
        return [State::EMPTIED, $at, Reach::of(max(0, $fullAt - $at), $debt)];
    }

    /** When a limit finds the bucket full. */
    public static function fullAt(TokenBucket $limit, int $at, int $reach): array
    {
        $paid = $at + Reach::debtSpan(Reach::debt($reach), $limit);
        return min($limit->add([$paid, 0], $limit->full), [$at + Reach::span($reach), 0]);
    }

    /** The bucket after a call that has moved the time at which its limit finds it full from `before`, which is not before `now`. */
    public static function charged(TokenBucket $limit, array $state, int $now, array $before, array $after): array
    {
        [, $at, $reach] = $state;
        $cost = TokenBucket::ceil($limit->sub($after, $before));
        $fullAt = max($at + Reach::span($reach), $now) + $cost;
        $debt = Reach::debt($reach);
        $emptyAt = max(0, TokenBucket::ceil($limit->sub($after, $limit->full)) - Reach::debtSpan($debt, $limit));
        if ($debt === Reach::NO_DEBT && $emptyAt > $now) {
            $debt = Reach::AHEAD;
        }
        return self::state(max($emptyAt, min($at + $cost, max($at, $now))), $debt, $fullAt);
    }

    /**
     * The bucket once a call has given back so much time: full if that is all of it. The time at which it was empty moves only if the
     * limit would get less than half of that back otherwise: else a shorter limit would find its whole bucket again for each token of a
     * longer one.
     *
     * @param array{int, int} $before when the limit found it full
     */
    public static function givenBack(TokenBucket $limit, array $state, int $now, array $before, array $back, int $keptBack): array
    {
        [, $at, $reach] = $state;
        $fullAt = max(0, $at + Reach::span($reach) - $back[0]) + $keptBack;
        if ($fullAt <= $now) {
            return State::FULL;
        }
        $wanted = max(TokenBucket::ceil($limit->sub($before, $back)), $now);
        $isEnough = max(0, $fullAt - $wanted) <= intdiv($back[0], 2);
        return self::state($isEnough ? min($at, $fullAt) : max(0, $at - $back[0]), Reach::debt($reach), $fullAt);
    }
}
