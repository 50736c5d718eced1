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

/**
 * How an emptied bucket lies: how long until it is full, and how far it may owe, in 24 bits: 2 of the debt, 4 of an exponent of four, 18
 * of microseconds.
 */
final class Reach
{
    private const MANTISSA_BITS = 18;
    private const MAX_EXPONENT = 15;
    private const DEBT_SHIFT = 22;
    private const UNIT = 1_000;

    /* What an emptied bucket owes beyond empty: as many refills of any numbers. */
    public const NO_DEBT = 0;
    /** The time at which it was empty lies beyond now, by a refill of its own numbers at most. */
    public const AHEAD = 1;
    /** A refill, and what the time lies beyond now. */
    public const REFILL = 2;
    /** 64 refills, and what the time lies beyond now. */
    public const REFILLS_64 = 3;

    /** A span of nanoseconds, rounded up, and a debt. More than eight years are taken for eight. */
    public static function of(int $ns, int $debt): int
    {
        [$mantissa, $exponent] = [intdiv($ns + self::UNIT - 1, self::UNIT), 0];
        while (($mantissa >> self::MANTISSA_BITS) !== 0) {
            $mantissa = ($mantissa + 3) >> 2;
            $exponent++;
        }
        $number = $exponent > self::MAX_EXPONENT ? (1 << self::DEBT_SHIFT) - 1 : ($exponent << self::MANTISSA_BITS) | $mantissa;
        return ($debt << self::DEBT_SHIFT) | $number;
    }

    /** The nanoseconds of a reach. */
    public static function span(int $reach): int
    {
        $mantissa = $reach & ((1 << self::MANTISSA_BITS) - 1);
        $exponent = ($reach >> self::MANTISSA_BITS) & self::MAX_EXPONENT;
        return ($mantissa << (2 * $exponent)) * self::UNIT;
    }

    /** The debt in a reach. */
    public static function debt(int $reach): int { return ($reach >> self::DEBT_SHIFT) & 3; }

    /** How much longer a limit waits for the debt, in nanoseconds. */
    public static function debtSpan(int $debt, TokenBucket $limit): int
    {
        return match ($debt) {
            self::REFILL => $limit->refills(0),
            self::REFILLS_64 => $limit->refills(6),
            default => 0,
        };
    }

    /** What is owed once the time is cut to now. */
    public static function withTimeCut(int $debt): int
    {
        return match ($debt) {
            self::NO_DEBT => self::NO_DEBT,
            self::AHEAD => self::REFILL,
            default => self::REFILLS_64,
        };
    }
}
