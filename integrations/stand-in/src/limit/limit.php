<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * A limit: an algorithm and its numbers. Pure arithmetic on a state, a time and an operation, as in src/limit of the extension.
 *
 * Times are whole nanoseconds. A state is a list: a letter of `State`, and its numbers. All of them fit an int of 64 bits: a clock shows
 * at most MAX_NOW, to which a sum of times adds a refill and a debt of four years at most.
 */
abstract class Limit
{
    public const SECOND = 1_000_000_000;
    /** The longest refill, interval, lifetime and block: four years. */
    public const MAX_REFILL = 126_230_400 * self::SECOND;
    /** The latest time that a clock may show. */
    public const MAX_NOW = 4_000_000_000 * self::SECOND;
    public const MAX_PERMITS = 1_024;

    /** What stands behind an identifier, so that no algorithm meets the state of another. */
    public const SUFFIX = '';

    /** The limit of a public class: so many in an interval, or of the calendar. */
    public static function of(string $class, int $count, float $interval): self
    {
        return match ($class) {
            \TokenBucket\FixedWindow::class => new FixedWindow($count, $interval),
            \TokenBucket\SlidingWindow::class => new SlidingWindow($count, $interval),
            \TokenBucket\CalendarWindow::class => new CalendarWindow($count),
            default => TokenBucket::perPeriod($count, $interval),
        };
    }

    /** The limit at a moment in which its state is this. */
    abstract protected function at(array $state, int $now, Op $op): Moment;

    /**
     * Applies an operation to a state.
     *
     * @return array{Answer, array} the answer, and the state to remember
     */
    public function apply(array $state, int $now, Op $op): array
    {
        return Block::decide($state, $now, $op, $this->capacity) ?? $this->at($state, $now, $op)->apply($state, $op);
    }

    /** How much the limit allows at once: tokens or hits. */
    public int $capacity;

    /** The time in which the limit allows its capacity, in nanoseconds, rounded up. */
    abstract public function window(): int;

    /**
     * After an accepted call: nanoseconds until one token or hit more can be used than can now, also if all of these are used now. Calls
     * that leave `leave` can use those that are left beyond it.
     */
    abstract public function moreAfter(Answer $answer, int $leave): int;

    /** The whole tokens, or the hits, that are left after an answer. */
    public function remaining(Answer $answer): int { return $answer->available[0]; }

    /** Converts the length of a window, a lifetime or a block from seconds to nanoseconds, to the nearest. */
    public static function duration(float $seconds): int
    {
        $ns = self::nearest($seconds * self::SECOND);
        return $ns >= 1 && $ns <= self::MAX_REFILL ? (int) $ns : throw new LimitError(LimitError::INTERVAL);
    }

    /** The nearest whole number; halves are rounded away from zero. PHP's round() has rounded twice before 8.4. */
    public static function nearest(float $number): float
    {
        $below = floor($number);
        return $number - $below >= 0.5 ? $below + 1 : $below;
    }

    /** Checks a number of tokens, hits or permits. */
    protected static function checkCount(int $count, int $most, string $error): int
    {
        return $count >= 1 && $count <= $most ? $count : throw new LimitError($error);
    }

    /** A sum, or the largest int. */
    public static function sum(int $a, int $b): int
    {
        $sum = $a + $b;
        return is_int($sum) ? $sum : PHP_INT_MAX;
    }
}

/** A limit at a moment: its state as the clock lets it be, and what each operation makes of it: an answer, and the state to remember. */
abstract class Moment
{
    /** Without times from the future, unless the operation settles a call. */
    protected array $state;

    public function __construct(protected Limit $limit, protected int $now) {}

    /** @param array $stored the state as it was stored: a peek leaves also a time from the future as it is */
    public function apply(array $stored, Op $op): array
    {
        return match ($op->kind) {
            Op::TAKE => $this->take($op->cost),
            Op::TAKE_UP_TO => $this->takeUpTo($op),
            Op::PEEK => [$this->peek($op->cost), $stored],
            Op::CHECK => $this->check(),
            Op::RESERVE => $this->reserve($op->cost, $op->time),
            Op::REFUND => $this->refund($op->cost, $op->expiry),
            Op::SETTLE => $this->settle($op->cost, $op->expiry),
            Op::START => $this->start($op->time),
            default => [$this->reset(), $this->state],
        };
    }

    /** The tokens or hits that are left. */
    abstract protected function left(): int;

    /** The answer to a call that is accepted and changes nothing. */
    abstract protected function accept(): Answer;

    /** Takes a cost above 0 and within the capacity, if it is there. */
    abstract protected function takeIfThere(int $cost): array;
    abstract protected function refund(int $cost, ?int $expiry): array;
    abstract protected function settle(int $cost, ?int $expiry): array;
    abstract protected function start(int $missing): array;

    /** Makes the limit full, and its state what is left to remember. */
    abstract protected function reset(): Answer;

    /** Denies a call until `retryAt` and changes nothing. */
    protected function deny(int $retryAt): array { return [$this->accept()->denied($retryAt), $this->state]; }

    protected function take(int $cost): array
    {
        return match (true) {
            $cost === 0 => [$this->accept(), $this->state],
            $cost > $this->limit->capacity => $this->deny(Answer::NEVER),
            default => $this->takeIfThere($cost),
        };
    }

    /** Takes as many as are left beyond those to leave, but no fewer than the least. */
    private function takeUpTo(Op $op): array
    {
        $cost = max(min($op->cost, max(0, $this->left() - $op->leave)), $op->least);
        $needed = $this->take(Limit::sum($cost, $op->leave));
        return $needed[0]->isAccepted ? $this->take($cost) : $needed;
    }

    /** The answer of `take`, with the level that the limit keeps. */
    private function peek(int $cost): Answer
    {
        [$taken] = $this->take($cost);
        $answer = $this->accept();
        return $taken->isAccepted ? $answer : $answer->denied($taken->retryAt);
    }

    protected function check(): array { return $this->take(1); }
    protected function reserve(int $cost, int $maxWait): array { return $this->take($cost); }
}
