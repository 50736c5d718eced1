<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

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
