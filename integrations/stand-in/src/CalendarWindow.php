<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

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
        return $isCurrent || $isFromFuture ? $end : null;
    }

    private static function isSame(int $end, int $other): bool { return abs($end - $other) <= self::SLACK; }
}
