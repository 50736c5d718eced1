<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket;
use TokenBucket\TestClock;

/**
 * The smallest capacity that would deny a client nothing, found in one pass.
 *
 * As long as nothing is denied, two buckets of one rate lack the same number of tokens, whatever their capacities. So the most
 * that the largest bucket ever lacked is what a smaller one must hold.
 */
final class DeepestLevel
{
    private TokenBucket $bucket;
    private int $capacity;

    public function __construct(Rate $rate)
    {
        $this->capacity = $rate->largestCapacity();
        $this->bucket = $rate->bucket($this->capacity);
    }

    /**
     * @param non-empty-array<int, int> $times how many requests at each time, in milliseconds, in order
     *
     * @return int one more than the largest capacity if even that would deny something
     */
    public function of(array $times): int
    {
        $this->bucket->reset();
        $fewest = $this->capacity;
        $first = array_key_first($times);
        foreach ($times as $time => $count) {
            TestClock::freeze(Replay::CLOCK_START + ($time - $first) / 1000);
            $decision = $this->bucket->attempt($count);
            if (!$decision->isAccepted()) {
                return $this->capacity + 1;
            }
            $fewest = min($fewest, $decision->getRemainingTokens());
        }
        return $this->capacity - $fewest;
    }
}
