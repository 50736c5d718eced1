<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

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

    /** Null if PHP does not know the time zone. */
    public static function find(string $unit, string $timezone): ?self
    {
        try {
            return new self($unit, new \DateTimeZone($timezone));
        } catch (\Exception | \ValueError) {
            return null;
        }
    }

    public static function isUnit(string $unit): bool { return isset(self::PHRASES[$unit]); }

    /** The limit, with the ends of the window that is open now. */
    public function limit(CalendarWindow $limit): CalendarWindow
    {
        $now = Clock::now();
        $isCurrent = $now >= $limit->ends[0] && $now < $limit->ends[1];
        return $isCurrent ? $limit : new CalendarWindow($limit->capacity(), $this->ends(intdiv($now, Limit::SECOND)));
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
