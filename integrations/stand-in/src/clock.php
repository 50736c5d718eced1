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

namespace TokenBucket;

final class TestClock
{
    private const OUT_OF_RANGE = 'must keep the clock between 0 and 4000000000 seconds';

    private function __construct() {}

    public static function freeze(float $seconds): void
    {
        func_num_args() > 1 && StandIn\Thrown::tooMany(func_num_args());
        self::checkIsAllowed();
        StandIn\Clock::$frozen = StandIn\Clock::fromSeconds($seconds) ?? throw StandIn\Thrown::value(1, self::OUT_OF_RANGE);
    }

    public static function advance(float $seconds): void
    {
        func_num_args() > 1 && StandIn\Thrown::tooMany(func_num_args());
        self::checkIsAllowed();
        if (StandIn\Clock::$frozen === null) {
            throw StandIn\Thrown::logic('TokenBucket\TestClock::advance() needs a frozen clock, call freeze() first');
        }
        $step = StandIn\Clock::fromSeconds(abs($seconds)) ?? throw StandIn\Thrown::value(1, self::OUT_OF_RANGE);
        $then = StandIn\Clock::$frozen + ($seconds < 0 ? -$step : $step);
        StandIn\Clock::$frozen = $then >= 0 && $then <= StandIn\Limit::MAX_NOW ? $then : throw StandIn\Thrown::value(1, self::OUT_OF_RANGE);
    }

    public static function resume(): void
    {
        func_num_args() > 0 && StandIn\Thrown::tooMany(func_num_args());
        self::checkIsAllowed();
        StandIn\Clock::$frozen = null;
    }

    /** A frozen clock refills no bucket, and an advanced one all. */
    private static function checkIsAllowed(): void
    {
        StandIn\Settings::get('test_clock') || throw StandIn\Thrown::configuration(
            'TokenBucket\TestClock needs token_bucket.test_clock=1 in php.ini, or by php -d; never set it in production',
        );
    }
}
