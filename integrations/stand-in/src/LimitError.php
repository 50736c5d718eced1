<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Numbers that do not make a limit. The message is what they must be. */
final class LimitError extends \Exception
{
    public const CAPACITY = 'must be between 1 and 2147483647';
    public const RATE = 'must be finite and greater than 0';
    public const HITS = 'must be between 1 and 16777214';
    public const SLIDING_HITS = 'must be between 1 and 1024';
    public const PERMITS = 'must be between 1 and 1024';
    public const INTERVAL = 'must be greater than 0 and at most four years, in seconds';
    public const RATE_TOO_HIGH = 'must be at most 1000000000';
    public const REFILL_TOO_LONG = 'must refill the whole bucket within four years';

    /** Whether the number of tokens, hits or permits is wrong. */
    public function isOfCount(): bool
    {
        return in_array($this->message, [self::CAPACITY, self::HITS, self::SLIDING_HITS, self::PERMITS], true);
    }
}
