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
    /** The state of a bucket that is empty at `at`, owes so many refills, by their code, and is full at `fullAt`. */
    public static function state(int $at, int $refills, bool $isAhead, int $fullAt): array
    {
        $at = Gcra::toGrain($at);
        return [State::EMPTIED, $at, Reach::of(max(0, $fullAt - $at), $refills, $isAhead)];
    }

    /** When a limit finds the bucket full. */
    public static function fullAt(TokenBucket $limit, int $at, int $reach): array
    {
        $paid = $at + $limit->refills(Reach::refills($reach));
        return min($limit->add([$paid, 0], $limit->full), [$at + Reach::span($reach), 0]);
    }

    /** The bucket after a call that has moved the time at which its limit finds it full from `before`, which is not before `now`. */
    public static function charged(TokenBucket $limit, array $state, int $now, array $before, array $after): array
    {
        [, $at, $reach] = $state;
        $cost = TokenBucket::ceil($limit->sub($after, $before));
        $fullAt = max($at + Reach::span($reach), $now) + $cost;
        $refills = Reach::refills($reach);
        $emptyAt = max(0, TokenBucket::ceil($limit->sub($after, $limit->full)) - $limit->refills($refills));
        $emptyAt = max($emptyAt, min($at + $cost, max($at, $now)));
        $isAhead = $emptyAt > $now && (Reach::isAhead($reach) || $emptyAt > $at);
        return self::state($emptyAt, $refills, $isAhead, $fullAt);
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
        $at = $isEnough ? min($at, $fullAt) : max(0, $at - $back[0]);
        return self::state($at, Reach::refills($reach), Reach::isAhead($reach) && $at > $now, $fullAt);
    }
}

/**
 * How an emptied bucket lies: how long until it is full, and how far it may owe, in 30 bits: 7 of refills, 1 of the time that may lie
 * beyond the clock that wrote it, 4 of an exponent of four, 18 of microseconds.
 */
final class Reach
{
    private const MANTISSA_BITS = 18;
    private const MAX_EXPONENT = 15;
    private const AHEAD_SHIFT = 22;
    private const REFILLS_SHIFT = 23;
    private const UNIT = 1_000;

    /** A span of nanoseconds, rounded up, and the code of the refills that are owed. More than eight years are taken for eight. */
    public static function of(int $ns, int $refills, bool $isAhead): int
    {
        [$mantissa, $exponent] = [intdiv($ns + self::UNIT - 1, self::UNIT), 0];
        while (($mantissa >> self::MANTISSA_BITS) !== 0) {
            $mantissa = ($mantissa + 3) >> 2;
            $exponent++;
        }
        $number = $exponent > self::MAX_EXPONENT ? (1 << self::AHEAD_SHIFT) - 1 : ($exponent << self::MANTISSA_BITS) | $mantissa;
        return ($refills << self::REFILLS_SHIFT) | ((int) $isAhead << self::AHEAD_SHIFT) | $number;
    }

    /** The nanoseconds of a reach. */
    public static function span(int $reach): int
    {
        $mantissa = $reach & ((1 << self::MANTISSA_BITS) - 1);
        $exponent = ($reach >> self::MANTISSA_BITS) & self::MAX_EXPONENT;
        return ($mantissa << (2 * $exponent)) * self::UNIT;
    }

    /** What an emptied bucket owes beyond empty: the code of as many refills of any numbers. */
    public static function refills(int $reach): int { return ($reach >> self::REFILLS_SHIFT) & Refills::MOST; }

    /** Whether the time at which it was empty lies beyond the clock that wrote it, by a refill of its own numbers at most. */
    public static function isAhead(int $reach): bool { return (($reach >> self::AHEAD_SHIFT) & 1) > 0; }
}
