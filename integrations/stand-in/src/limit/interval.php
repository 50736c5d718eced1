<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * From a rate or a period, which PHP has as a float, to the exact time in which a token comes back: a span of nanoseconds and parts, and
 * how many parts a nanosecond has.
 *
 * Many numbers round to the same float. The one that is meant is taken to be the simplest fraction among them: 0.1 is exactly one in
 * ten, and `10 / 300` exactly one in thirty.
 */
final class Interval
{
    /** The most parts that a nanosecond is divided into. */
    private const MAX_PARTS = 1 << 30;
    /** Above this a sum of three rests may be larger than an int. */
    private const MAX_DIVISOR = 1 << 61;

    /** The interval of a rate in tokens per second, finite and above zero. */
    public static function ofRate(float $rate): array
    {
        [$tokens, $seconds] = self::toFraction($rate);
        return self::ofRatio($seconds, 1, $tokens);
    }

    /**
     * The interval of so many tokens in a period of seconds.
     *
     * The period is whole nanoseconds, if such a number rounds to it, else the simplest fraction that does.
     */
    public static function ofPeriod(int $tokens, float $period): array
    {
        $ns = Limit::nearest($period * Limit::SECOND);
        [$seconds, $parts] = $ns >= 1 && $ns / Limit::SECOND === $period ? [(int) $ns, Limit::SECOND] : self::toFraction($period);
        // A period that no short fraction names, of many tokens: the float of their ratio is as near.
        return self::ofRatio($seconds, $parts, $tokens) ?? self::ofRate($tokens / $period);
    }

    /**
     * The interval of `tokens` in `seconds / parts` seconds. Exact if the tokens, in lowest terms, are at most 2³⁰; else rounded up, by
     * less than 10⁻⁹ of a nanosecond. Null if the numbers are too large.
     */
    private static function ofRatio(int $seconds, int $parts, int $tokens): ?array
    {
        $second = Limit::SECOND;
        // In lowest terms: seconds * second / (parts * tokens).
        self::cancel($seconds, $parts);
        self::cancel($seconds, $tokens);
        self::cancel($second, $parts);
        self::cancel($second, $tokens);
        $divisor = $parts * $tokens;
        if ($divisor > self::MAX_DIVISOR) {
            return null;
        }
        [$whole, $rest] = self::divideProduct($seconds, $second, $divisor);
        if ($divisor <= self::MAX_PARTS) {
            return [[$whole, $rest], $divisor];
        }
        [$part, $left] = self::divideProduct($rest, self::MAX_PARTS, $divisor);
        $part += $left > 0 ? 1 : 0;
        return [$part === self::MAX_PARTS ? [$whole + 1, 0] : [$whole, $part], self::MAX_PARTS];
    }

    private static function cancel(int &$a, int &$b): void
    {
        [$x, $y] = [$a, $b];
        while ($y !== 0) {
            [$x, $y] = [$y, $x % $y];
        }
        [$a, $b] = [intdiv($a, $x), intdiv($b, $x)];
    }

    /** The simplest fraction among the numbers that round to a value above 2⁻²⁸ and below 2³⁰. */
    private static function toFraction(float $value): array
    {
        if ($value >= 1 && fmod($value, 1) === 0.0) {
            return [(int) $value, 1];
        }
        $reciprocal = Limit::nearest(1 / $value);
        if ($reciprocal >= 1 && 1 / $reciprocal === $value) {
            return [1, (int) $reciprocal];
        }
        // value = mantissa * 2^exponent, and the midpoints to its two neighbours are half a unit away.
        $bits = unpack('q', pack('d', $value))[1];
        $mantissa = ($bits & ((1 << 52) - 1)) | (1 << 52);
        $doublings = 1076 - (($bits >> 52) & 0x7ff);
        return self::simplestBetween((2 * $mantissa) - 1, (2 * $mantissa) + 1, $doublings);
    }

    /**
     * The simplest fraction strictly between `low` and `high`, both divided by a power of two: by the continued fractions of the two
     * (Stern-Brocot tree).
     */
    private static function simplestBetween(int $low, int $high, int $doublings): array
    {
        // The convergents p/q: the last one, and the one before it.
        [$p0, $q0, $p, $q] = [0, 1, 1, 0];
        if ($doublings < 62) {
            [$lowBelow, $highBelow] = [1 << $doublings, 1 << $doublings];
            [$lowWhole, $lowRest] = [intdiv($low, $lowBelow), $low % $lowBelow];
            [$highWhole, $highRest] = [intdiv($high, $highBelow), $high % $highBelow];
        } else {
            // Both are below 1: the first term is 0, and their reciprocals change places.
            [$p0, $q0, $p, $q] = [1, 0, 0, 1];
            [$lowBelow, $highBelow] = [$high, $low];
            [$lowWhole, $lowRest] = self::divideProduct(1 << ($doublings - 30), 1 << 30, $lowBelow);
            [$highWhole, $highRest] = self::divideProduct(1 << ($doublings - 30), 1 << 30, $highBelow);
        }
        while (true) {
            // The next term is the whole part as long as both bounds share it, and one more at the end.
            $differ = $highWhole > $lowWhole + 1 || ($highWhole === $lowWhole + 1 && $highRest > 0);
            $term = $differ ? $lowWhole + 1 : $lowWhole;
            [$p0, $q0, $p, $q] = [$p, $q, ($term * $p) + $p0, ($term * $q) + $q0];
            if ($differ) {
                return [$p, $q];
            }
            // The higher bound less the whole part of the lower one.
            $highRest += ($highWhole - $lowWhole) * $highBelow;
            if ($lowRest === 0) {
                // The lower bound itself is excluded, and the next whole number is not below the higher one.
                $term = intdiv($highBelow, $highRest) + 1;
                return [($term * $p) + $p0, ($term * $q) + $q0];
            }
            [$low, $lowBelow, $high, $highBelow] = [$highBelow, $highRest, $lowBelow, $lowRest];
            [$lowWhole, $lowRest] = [intdiv($low, $lowBelow), $low % $lowBelow];
            [$highWhole, $highRest] = [intdiv($high, $highBelow), $high % $highBelow];
        }
    }

    /**
     * The quotient and the rest of a product, bit by bit.
     *
     * @param int $b at most 2³⁰
     */
    private static function divideProduct(int $a, int $b, int $by): array
    {
        [$quotient, $rest] = [0, 0];
        for ($bit = 30; $bit >= 0; $bit--) {
            $part = ($b >> $bit) & 1 ? $a : 0;
            $rest = (2 * $rest) + ($part % $by);
            $quotient = (2 * $quotient) + intdiv($part, $by) + intdiv($rest, $by);
            $rest %= $by;
        }
        return [$quotient, $rest];
    }
}
