<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * A bucket from which tokens were reserved, or which owes what a call cost beyond its estimate: how far it may lie ahead. That is kept in
 * refills of the limit, so a debt that other numbers have made is recognised.
 */
final class Reserved
{
    private const FRACTION_BITS = 24;
    /** The most doublings of a reservation's distance. */
    public const MAX_AHEAD = 57;

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
        for ($doublings = 0; $doublings < self::MAX_AHEAD && (1 << $doublings) < $refills; $doublings++) {
        }
        return [
            State::RESERVED,
            $fullAt[0] + ($fraction >> self::FRACTION_BITS),
            $fraction & ((1 << self::FRACTION_BITS) - 1),
            max($doublings, $ahead),
        ];
    }

    /** When a reservation is full, which is kept as nanoseconds and a fraction. */
    public static function fullAt(TokenBucket $limit, int $fullAt, int $fraction): array
    {
        return $limit->add([$fullAt, ($fraction * $limit->parts) >> self::FRACTION_BITS], [0, 0]);
    }
}
