<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket;
use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/**
 * How fast tokens come back: one each whole number of milliseconds.
 *
 * So the time of a full refill has three decimals at most for every capacity.
 */
final class Rate
{
    private const UNITS = ['s' => 1, 'sec' => 1, 'min' => 60, 'm' => 60, 'h' => 3600, 'hour' => 3600, 'd' => 86400, 'day' => 86400];
    private const LARGEST_CAPACITY = 2_147_483_647;
    /** The extension's longest refill, four years. */
    private const LONGEST_REFILL = 4 * 31_557_600;

    private function __construct(public readonly string $label, public readonly int $millisecondsPerToken)
    {
    }

    /** @throws UsageError unless it is such as 1/s, 10/min, 100/h, 5/d or 10/300 */
    public static function fromText(string $text): self
    {
        $shown = Text::printable($text);
        if (!preg_match('~^([1-9]\d{0,8})/(?:([1-9]\d{0,7})|([a-z]+))$~D', $text, $match)) {
            throw new UsageError("--rates: \"$shown\" must be such as 1/s, 10/min, 100/h, 5/d, or 10/300 for 10 in 300 seconds");
        }
        $seconds = $match[2] !== '' ? (int) $match[2] : self::UNITS[$match[3]]
            ?? throw new UsageError("--rates: the unit in \"$shown\" must be s, min, h or d");
        $tokens = (int) $match[1];
        if ($seconds * 1000 % $tokens !== 0) {
            throw new UsageError("--rates: \"$shown\" must give one token each whole number of milliseconds; it gives one each "
                . round($seconds * 1000 / $tokens, 3) . ' ms');
        }
        if ($seconds / $tokens > self::LONGEST_REFILL) {
            throw new UsageError("--rates: \"$shown\" must give at least one token in four years");
        }
        return new self($text, intdiv($seconds * 1000, $tokens));
    }

    /** How long a bucket of this capacity takes to refill: the $interval of TokenBucket::per(). */
    public function interval(int $capacity): float
    {
        return $capacity * $this->millisecondsPerToken / 1000;
    }

    /** The largest bucket that the extension has at this rate. */
    public function largestCapacity(): int
    {
        return min(self::LARGEST_CAPACITY, intdiv(self::LONGEST_REFILL * 1000, $this->millisecondsPerToken));
    }

    /** A bucket in the memory of this process. */
    public function bucket(int $capacity): TokenBucket
    {
        return TokenBucket::per(new TokenBucket\ArrayStorage(), 'client', $capacity, $this->interval($capacity));
    }
}
