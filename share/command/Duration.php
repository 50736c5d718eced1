<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** A length of time as a user writes it: seconds, or a number with a unit, such as 15m. */
final class Duration
{
    private const UNITS = ['' => 1, 's' => 1, 'm' => 60, 'min' => 60, 'h' => 3_600, 'd' => 86_400];

    /**
     * @param string $name of the argument
     *
     * @throws UsageError if it is none
     */
    public static function seconds(string $word, string $name = 'TIME'): float
    {
        preg_match('~^\s*(.*?)\s*(s|m|min|h|d|)\s*$~sD', $word, $parts);
        $seconds = is_numeric($parts[1]) ? (float) $parts[1] * self::UNITS[$parts[2]] : INF;
        return is_finite($seconds) ? $seconds : throw new UsageError("$name must be a number of seconds, or one with s, m, h or d, such as 90, 15m, 2h or 1d; it is \"" . Text::printable($word) . '"');
    }
}
