<?php

namespace TokenBucket;

/**
 * Time that stands still, for tests of throttling. Needs token_bucket.test_clock=1; never set it in production.
 *
 * A frozen time is that of this process and this request, and travels with each call to whatever store.
 *
 *     TestClock::freeze(1_000_000);
 *     $bucket->consume(10);
 *     TestClock::advance(0.5);
 */
abstract class TestClock
{
    /**
     * Stops the clock at a time.
     *
     * @param float $seconds 0 to 4·10^9, rounded to the nearest nanosecond
     *
     * @throws ConfigurationException without token_bucket.test_clock=1
     */
    public static function freeze(float $seconds): void {}

    /**
     * Moves a clock that is frozen; backwards, too.
     *
     * @throws \LogicException for a clock that is not frozen
     * @throws ConfigurationException without token_bucket.test_clock=1
     */
    public static function advance(float $seconds): void {}

    /**
     * Lets the clock run again.
     *
     * @throws ConfigurationException without token_bucket.test_clock=1
     */
    public static function resume(): void {}
}
