<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * A token bucket: holds `capacity` tokens, starts full, refills continuously. A leaky bucket is the same limit.
 *
 * A span or a point of time is a list of whole nanoseconds and the parts of one more. The limit says how many parts make a nanosecond, so
 * sums of tokens are exact and nothing drifts.
 */
final class TokenBucket extends Limit
{
    private const MAX_CAPACITY = 2_147_483_647;
    private const MAX_RATE = 1e9;
    /** The longest span that a product of tokens may be. */
    private const LONGEST = 1 << 62;

    /** The time in which an empty bucket refills. */
    public array $full;

    /** @param array{int, int} $interval the time in which one token comes back */
    private function __construct(int $capacity, public array $interval, public int $parts)
    {
        $this->capacity = $capacity;
        $this->full = $this->costInTime($capacity);
        if (self::ceil($this->full) > self::MAX_REFILL) {
            throw new LimitError(LimitError::REFILL_TOO_LONG);
        }
    }

    /** A bucket of `capacity` tokens that gets `rate` of them back each second. */
    public static function perSecond(int $capacity, float $rate): self
    {
        self::checkCapacity($capacity);
        self::checkRate($rate);
        if ($rate > self::MAX_RATE) {
            throw new LimitError(LimitError::RATE_TOO_HIGH);
        }
        // Rates that are too small for the exact arithmetic. The constructor has the last word.
        if (($capacity / $rate) > (self::MAX_REFILL / 1e9 * 1.01)) {
            throw new LimitError(LimitError::REFILL_TOO_LONG);
        }
        return new self($capacity, ...Interval::ofRate($rate));
    }

    public static function checkCapacity(int $capacity): void
    {
        self::checkCount($capacity, self::MAX_CAPACITY, LimitError::CAPACITY);
    }

    public static function checkRate(float $rate): void
    {
        if (!is_finite($rate) || $rate <= 0) {
            throw new LimitError(LimitError::RATE);
        }
    }

    /** A bucket of `capacity` tokens that come back evenly over `period` seconds. */
    public static function perPeriod(int $capacity, float $period): self
    {
        self::checkCapacity($capacity);
        if (!is_finite($period) || $period <= 0) {
            throw new LimitError(LimitError::INTERVAL);
        }
        if (($capacity / $period) > self::MAX_RATE) {
            throw new LimitError(LimitError::RATE_TOO_HIGH);
        }
        if ($period > (self::MAX_REFILL / 1e9 * 1.01)) {
            throw new LimitError(LimitError::INTERVAL);
        }
        // A float below some nanoseconds is too fine for it.
        return new self($capacity, ...($period < 1e-6 ? Interval::ofRate($capacity / $period) : Interval::ofPeriod($capacity, $period)));
    }

    /** A bucket that gets one token back each nanosecond, the unit of storages written in PHP. */
    public static function perNanosecond(int $capacity): self
    {
        return new self($capacity > 0 ? $capacity : throw new LimitError(LimitError::CAPACITY), [1, 0], 1);
    }

    protected function at(array $state, int $now, Op $op): Moment { return new Gcra($this, $state, $now, $op); }
    public function window(): int { return self::ceil($this->full); }
    public function remaining(Answer $answer): int { return $this->tokensIn($answer->available); }

    public function moreAfter(Answer $answer, int $leave): int
    {
        $next = $this->costInTime(max($this->remaining($answer), $leave) + 1);
        // A bucket that owes is longer from full than an empty one.
        $untilFull = max(0, $answer->expiresAt - $answer->now);
        return self::ceil($this->sub($next, $answer->available)) + max(0, $untilFull - $this->window());
    }

    /** As many full refills as a code says, in nanoseconds; at most 2⁵⁷: how far ahead of an empty bucket a reservation may lie. */
    public function refills(int $code): int
    {
        $refills = self::ceil($this->full) * Refills::number($code);
        return is_int($refills) ? min($refills, 1 << 57) : 1 << 57;
    }

    /** The time in which so many tokens come back; far beyond any valid time it is cut. */
    public function costInTime(int $tokens): array
    {
        // More than 2³² tokens are settled or given back at most: no bucket and no debt is larger.
        $parts = min($tokens, 1 << 32) * $this->interval[1];
        $ns = $this->interval[0] * $tokens;
        $ns = is_int($ns) ? min($ns, self::LONGEST) + intdiv($parts, $this->parts) : self::LONGEST;
        return [min($ns, self::LONGEST), $parts % $this->parts];
    }

    /** The whole tokens that come back in a span, at most the capacity. */
    public function tokensIn(array $span): int
    {
        if ($this->parts === 1) {
            return min($this->capacity, intdiv($span[0], $this->interval[0]));
        }
        // The floats are a token off at most.
        $ns = $this->interval[0] + ($this->interval[1] / $this->parts);
        $tokens = (int) min($this->capacity, floor(($span[0] + ($span[1] / $this->parts)) / $ns));
        while ($this->costInTime($tokens) > $span) {
            $tokens--;
        }
        while ($tokens < $this->capacity && $this->costInTime($tokens + 1) <= $span) {
            $tokens++;
        }
        return $tokens;
    }

    /** The sum of two times. A part of `a` that another limit wrote is cut to what this one can have. */
    public function add(array $a, array $b): array
    {
        $part = min($a[1], $this->parts - 1) + $b[1];
        $carry = $part >= $this->parts ? 1 : 0;
        return [$a[0] + $b[0] + $carry, $part - ($carry * $this->parts)];
    }

    /** The difference of two times, or zero if `b` is later. */
    public function sub(array $a, array $b): array
    {
        if ($a <= $b) {
            return [0, 0];
        }
        $borrow = $a[1] < $b[1] ? 1 : 0;
        return [$a[0] - $b[0] - $borrow, $a[1] - $b[1] + ($borrow * $this->parts)];
    }

    /** Nanoseconds, rounded up. */
    public static function ceil(array $span): int { return $span[0] + ($span[1] > 0 ? 1 : 0); }
}
