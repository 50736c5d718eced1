<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A call cannot be decided. The message says why: the disk is full, or another process does not give its lock back. */
final class Doubt extends \Exception
{
    public const INSIDE = 'this process is in the middle of another call on the same states';
}

/** A mistake in the file of limits, and its line, if it is in one. */
final class Wrong extends \Exception
{
    public function __construct(public string $what, public ?int $in = null)
    {
        parent::__construct($in === null ? $what : "line $in: $what");
    }
}

/** Numbers that do not make a limit. The message is what they must be. */
final class LimitError extends \Exception
{
    public const CAPACITY = 'must be between 1 and 2147483647';
    public const RATE = 'must be finite and greater than 0';
    public const HITS = 'must be between 1 and 16777214';
    public const SLIDING_HITS = 'must be between 1 and 1024; a fixed window, a calendar window or a token bucket takes more';
    public const PERMITS = 'must be between 1 and 1024';
    public const INTERVAL = 'must be greater than 0 and at most four years, in seconds';
    public const RATE_TOO_HIGH = 'must be at most 1000000000';
    public const REFILL_TOO_LONG = 'must refill the whole bucket within four years';

    /** What the numbers of a limit of so many in an interval must be. */
    public function ofInterval(string $limit): string
    {
        return match (true) {
            $this->isOfCount() => $this->message,
            $this->message === self::RATE_TOO_HIGH => "must be at least one nanosecond for each unit of $limit",
            default => self::INTERVAL,
        };
    }

    /** Whether the number of tokens, hits or permits is wrong. */
    public function isOfCount(): bool
    {
        return in_array($this->message, [self::CAPACITY, self::HITS, self::SLIDING_HITS, self::PERMITS], true);
    }
}

namespace TokenBucket;

interface TokenBucketException extends \Throwable {}

class ConfigurationException extends \InvalidArgumentException implements TokenBucketException {}

class StorageException extends \RuntimeException implements TokenBucketException {}

final class LimitExceededException extends \RuntimeException implements TokenBucketException
{
    private ?Decision $decision = null;

    private function __construct() {}

    public function getDecision(): Decision { return func_num_args() > 0 ? StandIn\Thrown::tooMany(func_num_args()) : $this->decision; }

    public function __clone() { throw new \Error('Trying to clone an uncloneable object of class ' . self::class); }
}
