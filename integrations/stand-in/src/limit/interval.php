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
    /** A wide number has two digits of this many bits, the higher one first. */
    private const DIGIT_BITS = 60;
    private const DIGIT = 1 << self::DIGIT_BITS;

    /** The interval of a rate in tokens per second, finite and above zero. */
    public static function ofRate(float $rate): array
    {
        [$tokens, $seconds] = self::toFraction($rate);
        return self::ofRatio($seconds, 1, $tokens);
    }

    /**
     * The period is whole nanoseconds, if such a number rounds to it, else the simplest fraction that does.
     *
     * Returns the interval of so many tokens in a period of seconds
     */
    public static function ofPeriod(int $tokens, float $period): array
    {
        $ns = Limit::nearest($period * Limit::SECOND);
        [$seconds, $parts] = $ns >= 1 && $ns / Limit::SECOND === $period ? [(int) $ns, Limit::SECOND] : self::toFraction($period);
        return self::ofRatio($seconds, $parts, $tokens);
    }

    /**
     * The interval of `tokens` in `seconds / parts` seconds. Exact if the tokens, in lowest terms, are at most 2³⁰; else rounded up, by
     * less than 10⁻⁹ of a nanosecond.
     */
    private static function ofRatio(int $seconds, int $parts, int $tokens): array
    {
        $second = Limit::SECOND;
        // In lowest terms: seconds * second / (parts * tokens).
        self::cancel($seconds, $parts);
        self::cancel($seconds, $tokens);
        self::cancel($second, $parts);
        self::cancel($second, $tokens);
        $ns = self::multiply($seconds, $second);
        $divisor = self::multiply($parts, $tokens);
        [$whole, $rest] = self::divide($ns, $divisor);
        if ($divisor <= [0, self::MAX_PARTS]) {
            return [[$whole, $rest[1]], $divisor[1]];
        }
        [$part, $left] = self::divideBits($rest, $divisor, 30);
        $part += $left === [0, 0] ? 0 : 1;
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
            [$lowWhole, [, $lowRest]] = self::divideBits([0, 1], [0, $lowBelow], $doublings);
            [$highWhole, [, $highRest]] = self::divideBits([0, 1], [0, $highBelow], $doublings);
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

    /** The product of a number below 2⁵⁹ and one below 2³¹. */
    private static function multiply(int $a, int $b): array
    {
        $high = ($a >> 30) * $b;
        $low = (($high & ((1 << 30) - 1)) << 30) + (($a & ((1 << 30) - 1)) * $b);
        return [($high >> 30) + ($low >> self::DIGIT_BITS), $low & (self::DIGIT - 1)];
    }

    /** @return array{int, array{int, int}} the quotient and the rest */
    private static function divide(array $number, array $by): array
    {
        if ($number[0] === 0 && $by[0] === 0) {
            return [intdiv($number[1], $by[1]), [0, $number[1] % $by[1]]];
        }
        [$quotient, $rest] = [0, [0, 0]];
        foreach ($number as $digit) {
            for ($bit = self::DIGIT_BITS - 1; $bit >= 0; $bit--) {
                [$next, $rest] = self::divideBits([$rest[0], $rest[1]], $by, 1, ($digit >> $bit) & 1);
                $quotient = (2 * $quotient) + $next;
            }
        }
        return [$quotient, $rest];
    }

    /**
     * Divides a number, doubled so often, bit by bit. `$bit` is added to the last doubling.
     *
     * @return array{int, array{int, int}} the quotient and the rest
     */
    private static function divideBits(array $rest, array $by, int $doublings, int $bit = 0): array
    {
        $quotient = 0;
        for (; $doublings > 0; $doublings--) {
            $low = (2 * $rest[1]) + ($doublings === 1 ? $bit : 0);
            $rest = [(2 * $rest[0]) + ($low >> self::DIGIT_BITS), $low & (self::DIGIT - 1)];
            $fits = $rest >= $by;
            if ($fits) {
                $borrow = $rest[1] < $by[1];
                $rest = [$rest[0] - $by[0] - ($borrow ? 1 : 0), $rest[1] - $by[1] + ($borrow ? self::DIGIT : 0)];
            }
            $quotient = (2 * $quotient) + ($fits ? 1 : 0);
        }
        return [$quotient, $rest];
    }
}
