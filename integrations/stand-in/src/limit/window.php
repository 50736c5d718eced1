<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A window whose hits come back all at once, when it ends: a fixed or a calendar window. They differ in how they find that end. */
abstract class Window extends Limit
{
    /** The most hits of a window. */
    public const MAX_HITS = 16_777_214;
    /** How much two ends of one window may differ, in nanoseconds. */
    public const SLACK = 0;
    /** Whether a window without hits has an end, too. */
    public const ENDS_WITHOUT_HITS = false;

    public function __construct(int $maxHits) { $this->capacity = self::checkCount($maxHits, self::MAX_HITS, LimitError::HITS); }

    /** The end of a window that opens now. */
    abstract public function endAt(int $now): int;

    /**
     * The end of the stored window, if it is open now. One from the future is brought down, unless the operation settles a call: other
     * numbers may have made the window.
     */
    abstract public function findOpen(int $storedEnd, int $now, Op $op): ?int;

    /** Whether the window with this end is the one of an answer that expires at `expiry`. */
    public function isWindowOf(int $end, int $expiry): bool { return $end === $expiry; }

    /**
     * The end of the window that follows one in this state which was reset, or a block, and would end at `end`. Null if its end is
     * another one by itself.
     */
    public function endAfter(array $state, int $end): ?int { return null; }

    protected function at(array $state, int $now, Op $op): Moment { return new WindowMoment($this, $state, $now, $op); }

    public function moreAfter(Answer $answer, int $leave): int
    {
        $isFull = !static::ENDS_WITHOUT_HITS && $this->remaining($answer) === $this->capacity;
        return $isFull ? $this->window() : $answer->expiresAt - $answer->now;
    }
}

/** A window at a moment. */
final class WindowMoment extends Moment
{
    private bool $isOpen = false;
    private int $end;
    private int $hits = 0;

    public function __construct(Window $window, array $state, int $now, Op $op)
    {
        parent::__construct($window, $now);
        [$kind, $last, $hits] = [...$state, 0];
        $open = $kind === State::WINDOW ? $window->findOpen($last + 1, $now, $op) : null;
        $this->isOpen = $open !== null;
        $this->hits = $this->isOpen ? $hits : 0;
        $end = $window->endAt($now);
        $this->end = $open ?? ($kind === State::BLOCKED ? $window->endAfter($state, $end) : null) ?? $end;
        $this->state = $this->isOpen && $this->end !== $last + 1 ? [State::WINDOW, $this->end - 1, $hits] : $state;
    }

    protected function left(): int { return max(0, $this->limit->capacity - $this->hits); }
    protected function accept(): Answer { return $this->answer($this->hits); }

    private function answer(int $hits, int $taken = 0): Answer
    {
        $hasEnd = $this->isOpen || $hits > 0 || $this->limit::ENDS_WITHOUT_HITS;
        // A call may be settled in a window that has ended by the stored time, but not by the call's own.
        $expiresAt = $hasEnd ? max($this->end, $this->now) : $this->now;
        return new Answer(true, $this->now, $this->now, $expiresAt, [max(0, $this->limit->capacity - $hits), 0], $taken);
    }

    private function withHits(int $hits, int $taken = 0): array
    {
        $hits = max(0, min($hits, Window::MAX_HITS));
        return [$this->answer($hits, $taken), [State::WINDOW, $this->end - 1, $hits]];
    }

    protected function takeIfThere(int $cost): array
    {
        return $cost > $this->left() ? $this->deny($this->end) : $this->withHits($this->hits + $cost, $cost);
    }

    /** Whether the call that is settled was charged to another window. One that has ended is not charged for a call that began in it. */
    private function isOther(?int $expiry): bool
    {
        return $expiry !== null && !($this->isOpen && $this->limit->isWindowOf($this->end, $expiry));
    }

    protected function refund(int $cost, ?int $expiry): array
    {
        return match (true) {
            $this->isOther($expiry) => $this->deny($this->now),
            $this->isOpen && $cost > 0 => $this->withHits($this->hits - $cost),
            default => [$this->accept(), $this->state],
        };
    }

    protected function settle(int $cost, ?int $expiry): array
    {
        return match (true) {
            $this->isOther($expiry) => $this->deny($this->now),
            $cost === 0 => [$this->accept(), $this->state],
            default => $this->withHits(Limit::sum($this->hits, $cost)),
        };
    }

    protected function start(int $missing): array { return $this->deny($this->end); }

    /** Forgets the hits, or a block. What was charged before is no part of the window that follows. */
    protected function reset(): Answer
    {
        $after = match (true) {
            $this->isOpen => $this->limit->endAfter($this->state, $this->end),
            $this->state[0] === State::BLOCKED => $this->limit->endAfter($this->state, $this->limit->endAt($this->now)),
            default => null,
        };
        $answer = $this->answer(0);
        $answer->expiresAt = $this->limit::ENDS_WITHOUT_HITS ? $after ?? $this->end : $this->now;
        $this->state = $after === null ? State::FULL : [State::WINDOW, $after - 1, 0];
        return $answer;
    }
}

/** The fixed window: a number of hits in an interval that opens at the first of them. */
final class FixedWindow extends Window
{
    public const SUFFIX = '#w';

    private int $interval;

    public function __construct(int $maxHits, float $interval)
    {
        parent::__construct($maxHits);
        $this->interval = self::duration($interval);
    }

    public function window(): int { return $this->interval; }
    public function endAt(int $now): int { return $now + $this->interval; }

    public function findOpen(int $storedEnd, int $now, Op $op): ?int
    {
        $latest = $op->settles() ? PHP_INT_MAX : $this->endAt($now);
        return $now < $storedEnd ? min($storedEnd, $latest) : null;
    }
}

/**
 * The calendar window: a number of hits in an hour, a day, a week, a month or a year of a time zone.
 *
 * The caller knows the calendar, and passes the ends of three windows: the last one, the current one and the next one. Beyond them a
 * window counts as long as the last of the three. Ends that differ by less than ten minutes are the same.
 */
final class CalendarWindow extends Window
{
    public const SUFFIX = '#d';
    public const SLACK = 600 * self::SECOND;
    public const ENDS_WITHOUT_HITS = true;

    /* As in src/limit/calendar_window.rs: the microseconds beyond a boundary number the windows that were reset or blocked. */
    private const BOUNDARY = 1_000_000;
    private const UNIT = 1_000;
    private const MAX_NUMBER = 999;

    /** @param array{int, int, int} $ends each at least a second after the other */
    public function __construct(int $maxHits, public array $ends = [0, self::SECOND, 2 * self::SECOND]) { parent::__construct($maxHits); }
    public function window(): int { return $this->ends[1] - $this->ends[0]; }

    public function endAt(int $now): int
    {
        foreach ($this->ends as $end) {
            if ($now < $end) {
                return $end;
            }
        }
        $length = $this->ends[2] - $this->ends[1];
        return $this->ends[2] + ((intdiv($now - $this->ends[2], $length) + 1) * $length);
    }

    public function findOpen(int $storedEnd, int $now, Op $op): ?int
    {
        $lasts = $now < $storedEnd;
        if ($op->settles()) {
            // A window that has ended as it is stored may be open by the answer to the call.
            $isOpen = $op->expiry !== null && $now < $op->expiry && self::isSame($storedEnd, $op->expiry);
            return $lasts || $isOpen ? $storedEnd : null;
        }
        $end = $this->endAt($now);
        $isCurrent = self::isSame($storedEnd, $end);
        // Shortly before the boundary a process may have found the next window open.
        $mayBeNext = ($end - $now) <= self::SLACK && self::isSame($storedEnd, $this->endAt($end));
        $isFromFuture = $storedEnd > $end && !$isCurrent && !$mayBeNext;
        if ($lasts && !$isFromFuture) {
            return $storedEnd;
        }
        return $isCurrent || $isFromFuture ? $end + (self::number($storedEnd) * self::UNIT) : null;
    }

    public function isWindowOf(int $end, int $expiry): bool
    {
        return self::isSame($end, $expiry) && self::number($end) === self::number($expiry);
    }

    public function endAfter(array $state, int $end): ?int
    {
        $number = $state[0] === State::BLOCKED ? $state[3] : self::numberAfter($state[1] + 1);
        return $end - ($end % self::BOUNDARY) + ($number * self::UNIT);
    }

    /** The number of the window after the one with this end, which was reset or blocked. */
    public static function numberAfter(int $end): int { return (self::number($end) % self::MAX_NUMBER) + 1; }

    /** The number of the window with this end, among those of one boundary. */
    private static function number(int $end): int { return intdiv($end % self::BOUNDARY, self::UNIT); }

    private static function isSame(int $end, int $other): bool { return abs($end - $other) <= self::SLACK; }
}

/** Where the hours, days, weeks, months and years of a time zone begin, by PHP's own time zones. */
final class Calendar
{
    public const UNITS = '"hour", "day", "week", "month" or "year"';

    /** What PHP calls the beginning of the unit, and of the next one. */
    private const PHRASES = [
        'hour' => ['', ''],
        'day' => ['today', 'tomorrow'],
        'week' => ['monday this week 00:00', 'monday next week 00:00'],
        'month' => ['first day of this month 00:00', 'first day of next month 00:00'],
        'year' => ['first day of january this year 00:00', 'first day of january next year 00:00'],
    ];

    private function __construct(public string $unit, public \DateTimeZone $zone) {}

    /** Null if PHP does not know the time zone, or it is the abbreviation of an offset, which is the same in summer and winter. */
    public static function find(string $unit, string $timezone): ?self
    {
        try {
            $zone = new \DateTimeZone($timezone);
        } catch (\Exception | \ValueError) {
            return null;
        }
        $isUsable = preg_match('/^([+-]|(UTC|GMT|Z)$)/Di', $timezone) || $zone->getLocation() !== false;
        return $isUsable ? new self($unit, $zone) : null;
    }

    public static function isUnit(string $unit): bool { return isset(self::PHRASES[$unit]); }

    /** The limit, with the ends of the window that is open now. */
    public function limit(CalendarWindow $limit): CalendarWindow
    {
        $now = Clock::now();
        $isCurrent = $now >= $limit->ends[0] && $now < $limit->ends[1];
        return $isCurrent ? $limit : new CalendarWindow($limit->capacity, $this->ends(intdiv($now, Limit::SECOND)));
    }

    /** The ends of the last window, of the current and of the next one, in nanoseconds since 1970. */
    private function ends(int $now): array
    {
        $at = fn(int $time): \DateTimeImmutable => (new \DateTimeImmutable("@$time"))->setTimezone($this->zone);
        [$begins, $next] = self::PHRASES[$this->unit];
        if ($this->unit === 'hour') {
            $offset = ($now + $at($now)->getOffset()) % 3_600;
            $begin = $now - ($offset < 0 ? $offset + 3_600 : $offset);
            $ends = [$begin, $begin + 3_600, $begin + 7_200];
        } else {
            $end = $at($now)->modify($next)->getTimestamp();
            $ends = [$at($now)->modify($begins)->getTimestamp(), $end, $at($end)->modify($next)->getTimestamp()];
        }
        // Each at least a second after the other. A window that began before 1970 begins then.
        [$first, $second, $third] = array_map(static fn(int $seconds): int => max($seconds, 0), $ends);
        $second = max($second, $first + 1);
        return [$first * Limit::SECOND, $second * Limit::SECOND, max($third, $second + 1) * Limit::SECOND];
    }
}
