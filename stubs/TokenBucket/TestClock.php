<?php

namespace TokenBucket;

/**
 * Freezes the time of all limiters, for tests. Needs token_bucket.test_clock=1 in php.ini; never set it in production.
 *
 * The frozen time holds for this process until the request ends, on every storage of this extension.
 *
 *     TestClock::freeze(1_000_000);
 *     $bucket->consume(10);
 *     TestClock::advance(0.5);
 */
final class TestClock
{
    /**
     * Stops the clock at a time.
     *
     * @param float $seconds the time: 0 to 4·10^9, rounded to the nearest nanosecond
     *
     * @throws \ValueError if the time is out of range
     * @throws ConfigurationException without token_bucket.test_clock=1
     */
    public static function freeze(float $seconds): void {}

    /**
     * Moves a frozen clock.
     *
     * @param float $seconds how far; backwards if negative
     *
     * @throws \ValueError if the clock would leave 0 to 4·10^9 seconds
     * @throws \LogicException if the clock is not frozen
     * @throws ConfigurationException without token_bucket.test_clock=1
     */
    public static function advance(float $seconds): void {}

    /**
     * Lets the clock run again.
     *
     * @throws ConfigurationException without token_bucket.test_clock=1
     */
    public static function resume(): void {}

    private function __construct() {}
}
