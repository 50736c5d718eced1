<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Reads the times of logs: milliseconds since 1970. */
final class LogTime
{
    /** No log has older times. */
    public const YEARS = 20;
    private const DAY = 86_400_000;
    /** As far as the extension's clock goes: the year 2096. */
    private const LATEST = 4_000_000_000_000;
    private const MONTHS = ['jan' => 1, 'feb' => 2, 'mar' => 3, 'apr' => 4, 'may' => 5, 'jun' => 6, 'jul' => 7, 'aug' => 8, 'sep' => 9, 'oct' => 10,
        'nov' => 11, 'dec' => 12];

    /** As it stands in a line: in quotes or brackets, or behind a name. */
    public static function fromWord(string $word): ?int
    {
        return self::fromValue(trim((string) preg_replace('~^[A-Za-z_][\w.-]*=~', '', $word), '"[]'));
    }

    /** A number, or text in one of the formats below. */
    public static function fromValue(mixed $value): ?int
    {
        if (is_string($value) && !is_numeric($value)) {
            return self::fromText($value);
        }
        return is_int($value) || is_float($value) || is_string($value) ? self::fromNumber((float) $value) : null;
    }

    /** "10/Oct/2026:13:55:36 +0200", or ISO 8601 as in "2026-10-10T13:55:36.123+02:00"; without a zone it is UTC. */
    public static function fromText(string $text): ?int
    {
        $clock = '(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?';
        $zone = ' ?(?:Z|UTC|([+-])(\d\d):?(\d\d))?';
        if (preg_match("~^(\d\d)/([A-Za-z]{3})/(\d{4}):$clock$zone$~D", $text, $match)) {
            [$year, $month, $day] = [(int) $match[3], self::MONTHS[strtolower($match[2])] ?? 0, (int) $match[1]];
        } elseif (preg_match("~^(\d{4})-(\d\d)-(\d\d)[T\s]$clock$zone$~D", $text, $match)) {
            [$year, $month, $day] = [(int) $match[1], (int) $match[2], (int) $match[3]];
        } else {
            return null;
        }
        [$hour, $minute, $second] = [(int) $match[4], (int) $match[5], (int) $match[6]];
        if (!checkdate($month, $day, $year) || $hour > 23 || $minute > 59 || $second > 60) {
            return null;
        }
        $offset = isset($match[9]) ? ((int) $match[9] * 60 + (int) $match[10]) * ($match[8] === '-' ? -60 : 60) : 0;
        $milliseconds = ((int) gmmktime($hour, $minute, $second, $month, $day, $year) - $offset) * 1000 + (int) substr(str_pad($match[7] ?? '', 3, '0'), 0, 3);
        return self::withinRange($milliseconds);
    }

    /** Whether a log can have this time. It may be a day in the future: a clock may be wrong, and the zone may be missing. */
    public static function isPlausible(?int $milliseconds): bool
    {
        static $bounds = null;
        $bounds ??= [time() * 1000 - (int) (self::YEARS * 365.25 * self::DAY), time() * 1000 + self::DAY];
        return $milliseconds !== null && $milliseconds >= $bounds[0] && $milliseconds <= $bounds[1];
    }

    public static function toText(int $milliseconds): string
    {
        return gmdate('Y-m-d\TH:i:s\Z', intdiv($milliseconds, 1000));
    }

    /** Seconds, or so many milliseconds, microseconds or nanoseconds that they cannot be seconds. */
    private static function fromNumber(float $number): ?int
    {
        foreach ([1e11, 1e14, 1e17] as $thousandth => $bound) {
            if ($number < $bound) {
                // Rounded at a microsecond first, so that 1.001 s is not 1000 ms.
                return self::withinRange((int) floor(round($number * 1000 / 1000 ** $thousandth, 3)));
            }
        }
        return $number < 1e20 ? self::withinRange((int) ($number / 1e6)) : null;
    }

    private static function withinRange(int $milliseconds): ?int
    {
        return $milliseconds >= 0 && $milliseconds <= self::LATEST ? $milliseconds : null;
    }
}
