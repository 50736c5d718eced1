<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * The smallest capacity that would deny a client nothing, found in one pass.
 *
 * As long as nothing is denied, two buckets of one rate lack the same number of tokens, whatever their capacities. So the most
 * that one without bounds ever lacks is what a smaller one must hold. It is counted in milliseconds of refill, which are whole
 * numbers; find_limit_shortcut.php compares the results with buckets of the extension, which would take five times as long.
 */
final class DeepestLevel
{
    private int $largest;
    private int $millisecondsPerToken;

    public function __construct(Rate $rate)
    {
        $this->largest = $rate->largestCapacity();
        $this->millisecondsPerToken = $rate->millisecondsPerToken;
    }

    /**
     * @param non-empty-array<int, int> $times how many requests at each time, in milliseconds, in order
     *
     * @return int one more than the largest capacity if even that would deny something
     */
    public function of(array $times): int
    {
        $lacking = $most = 0;
        $last = array_key_first($times);
        foreach ($times as $time => $count) {
            $rest = $lacking - ($time - $last);
            $lacking = $count * $this->millisecondsPerToken + ($rest > 0 ? $rest : 0);
            if ($lacking > $most) {
                $most = $lacking;
            }
            $last = $time;
        }
        return min(intdiv($most + $this->millisecondsPerToken - 1, $this->millisecondsPerToken), $this->largest + 1);
    }
}
