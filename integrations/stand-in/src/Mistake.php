<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Likely mistakes in code: each kind is said once in a process, and none while token_bucket.warn_of_mistakes is off. */
final class Mistake
{
    private static array $said = [];

    /** Whether to say a mistake of this kind now. */
    public static function claim(string $kind): bool
    {
        $isDue = !isset(self::$said[$kind]) && Settings::get('warn_of_mistakes');
        if ($isDue) {
            self::$said[$kind] = true;
        }
        return $isDue;
    }

    /** A line of PHP's log, if it has one. */
    public static function log(string $text): void
    {
        if (ini_get('log_errors')) {
            error_log("token_bucket: $text");
        }
    }

    /** A warning; where the application handles warnings, a line of the log, for the call has an answer. */
    public static function warn(string $text): void
    {
        $hasHandler = set_error_handler(null) !== null;
        restore_error_handler();
        if ($hasHandler) {
            self::log($text);
        } else {
            trigger_error(Thrown::name() . "(): $text", E_USER_WARNING);
        }
    }

    /** A rate that is probably a period: `new TokenBucket(null, $id, 5, 300)` gets 300 tokens back each second. */
    public static function warnOfPeriod(int $capacity, float $rate): void
    {
        if ($rate <= $capacity || fmod($rate, 60) !== 0.0 || !self::claim('period')) {
            return;
        }
        $seconds = $capacity / $rate;
        $decimals = $seconds < 1 ? (int) min(1 - floor(log10($seconds)), 20) : 3;
        $refill = rtrim(rtrim(number_format($seconds, $decimals, '.', ''), '0'), '.');
        self::warn("A bucket of $capacity is full again in $refill s, for the fourth argument is a rate per second; $capacity in "
            . "$rate seconds is TokenBucket::per(..., $capacity, $rate)");
    }

    /** Seconds that are probably milliseconds: whole half minutes in milliseconds and no whole days in seconds. */
    public static function warnOfMilliseconds(string $parameter, float $seconds): void
    {
        $isWhole = static fn(float $of): bool => fmod($seconds, $of) === 0.0;
        if ($seconds < 30_000 || !$isWhole(30_000) || $isWhole(86_400) && !$isWhole(3_600_000) || !self::claim('milliseconds')) {
            return;
        }
        $hours = $seconds / 3_600;
        $time = $hours < 48 ? sprintf('%.1F hours', $hours) : sprintf('%.1F days', $hours / 24);
        $meant = $seconds / 1_000;
        self::warn("$parameter is in seconds, and $seconds are $time; if milliseconds were meant, write $meant");
    }
}
