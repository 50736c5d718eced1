<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The time of day, which all processes of a host share, in nanoseconds; or that of a test. */
final class Clock
{
    /** The time of TestClock, while it is frozen. */
    public static ?int $frozen = null;

    public static function now(): int
    {
        if (self::$frozen !== null) {
            return self::$frozen;
        }
        ['sec' => $seconds, 'usec' => $microseconds] = gettimeofday();
        return min(($seconds * Limit::SECOND) + ($microseconds * 1_000), Limit::MAX_NOW);
    }

    /** Converts seconds to nanoseconds, to the nearest. Null if limits cannot compute with the result. */
    public static function fromSeconds(float $seconds): ?int
    {
        $ns = Limit::nearest($seconds * Limit::SECOND);
        return $ns >= 0 && $ns <= Limit::MAX_NOW ? (int) $ns : null;
    }
}
