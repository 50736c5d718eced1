<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket;
use TokenBucket\TestClock;

/** How many requests of a client a limit would have denied. */
final class Replay
{
    /** Any time that leaves room before it. A client's first request is at this time, which keeps the fractions exact. */
    public const CLOCK_START = 1_000_000;

    private TokenBucket $bucket;

    public function __construct(Rate $rate, int $capacity)
    {
        $this->bucket = $rate->bucket($capacity);
    }

    /**
     * Requests of the same time are one takeUpTo(), which takes as many tokens as that many calls would. Those before the
     * time at which the bucket says that a token will be there are denied without a call.
     *
     * @param list<int> $times  in milliseconds, in order
     * @param list<int> $counts how many requests at each
     */
    public function denied(array $times, array $counts): int
    {
        $this->bucket->reset();
        $accepted = 0;
        $last = count($times) - 1;
        for ($index = 0; $index <= $last; $index++) {
            TestClock::freeze(self::CLOCK_START + ($times[$index] - $times[0]) / 1000);
            $decision = $this->bucket->takeUpTo($counts[$index]);
            $accepted += $decision->getTokens();
            if (!$decision->isAccepted()) {
                // A millisecond less, for the time is a float.
                $next = $times[$index] + (int) ($decision->getRetryAfter() * 1000) - 1;
                $index = self::lastBefore($next, $times, $index, $last);
            }
        }
        return array_sum($counts) - $accepted;
    }

    /**
     * The last index whose time is before $time, at least $index: first in growing steps, then by halves.
     *
     * @param list<int> $times
     */
    private static function lastBefore(int $time, array $times, int $index, int $last): int
    {
        $step = 1;
        while ($index + $step <= $last && $times[$index + $step] < $time) {
            $index += $step;
            $step *= 2;
        }
        while ($step > 1) {
            $step = intdiv($step, 2);
            if ($index + $step <= $last && $times[$index + $step] < $time) {
                $index += $step;
            }
        }
        return $index;
    }
}
