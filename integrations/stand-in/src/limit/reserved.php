<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * A bucket from which tokens were reserved, or which owes what a call cost beyond its estimate: how far it may lie ahead. That is kept in
 * refills of the limit, so a debt that other numbers have made is recognised.
 */
final class Reserved
{
    private const FRACTION_BITS = 22;

    /**
     * The state of a bucket that is full at `fullAt`, at least so far `ahead`.
     *
     * @param array{int, int} $empty when an empty bucket is full
     */
    public static function state(TokenBucket $limit, array $fullAt, array $empty, int $ahead): array
    {
        $fraction = intdiv(($fullAt[1] << self::FRACTION_BITS) + $limit->parts - 1, $limit->parts);
        $beyond = TokenBucket::ceil($limit->sub($fullAt, $empty));
        $full = max(1, TokenBucket::ceil($limit->full));
        $refills = max(1, intdiv($beyond, $full) + ($beyond % $full > 0 ? 1 : 0));
        return [
            State::RESERVED,
            $fullAt[0] + ($fraction >> self::FRACTION_BITS),
            $fraction & ((1 << self::FRACTION_BITS) - 1),
            max(Refills::code($refills), $ahead),
        ];
    }

    /** When a reservation is full, which is kept as nanoseconds and a fraction. */
    public static function fullAt(TokenBucket $limit, int $fullAt, int $fraction): array
    {
        return $limit->add([$fullAt, ($fraction * $limit->parts) >> self::FRACTION_BITS], [0, 0]);
    }
}

/** A number of refills, in a code of seven bits: exact up to 31, then 32, 48, 64, 96, and so on: rounded up by half at most. */
final class Refills
{
    /** The highest code stands for more than the longest debt has. */
    public const MOST = 127;

    /** The smallest code of at least so many refills. */
    public static function code(int $refills): int
    {
        for ($code = min($refills, 32); $code < self::MOST && self::number($code) < $refills; $code++) {
        }
        return $code;
    }

    /** How many refills a code stands for. */
    public static function number(int $code): int
    {
        return match (true) {
            $code < 32 => $code,
            $code >= self::MOST => 1 << 57,
            default => ((2 + ($code % 2)) * 16) << (($code - 32) >> 1),
        };
    }
}
