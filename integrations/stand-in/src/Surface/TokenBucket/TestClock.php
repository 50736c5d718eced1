<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\Clock;
use TokenBucket\StandIn\Internal\Settings;
use TokenBucket\StandIn\Internal\Thrown;
use TokenBucket\StandIn\Limit\Limit;

final class TestClock
{
    private const OUT_OF_RANGE = 'must keep the clock between 0 and 4000000000 seconds';

    private function __construct() {}

    public static function freeze(float $seconds): void
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        self::checkIsAllowed();
        Clock::$frozen = Clock::fromSeconds($seconds) ?? throw Thrown::value(1, self::OUT_OF_RANGE);
    }

    public static function advance(float $seconds): void
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        self::checkIsAllowed();
        if (Clock::$frozen === null) {
            throw Thrown::at(new \LogicException('TokenBucket\TestClock::advance() needs a frozen clock, call freeze() first'));
        }
        $step = Clock::fromSeconds(abs($seconds)) ?? throw Thrown::value(1, self::OUT_OF_RANGE);
        $then = Clock::$frozen + ($seconds < 0 ? -$step : $step);
        Clock::$frozen = $then >= 0 && $then <= Limit::MAX_NOW ? $then : throw Thrown::value(1, self::OUT_OF_RANGE);
    }

    public static function resume(): void
    {
        func_num_args() > 0 && Thrown::tooMany(func_num_args());
        self::checkIsAllowed();
        Clock::$frozen = null;
    }

    /** A frozen clock refills no bucket, and an advanced one all. */
    private static function checkIsAllowed(): void
    {
        Settings::get('test_clock') || throw Thrown::at(new ConfigurationException(
            'TokenBucket\TestClock needs token_bucket.test_clock=1 in php.ini; never set it in production',
        ));
    }
}
