<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Illuminate\Cache\RateLimiting\Limit;
use InvalidArgumentException;
use stdClass;

/** One limit as it applies to a request or a job. */
final class AppliedLimit
{
    /**
     * @param mixed $afterCallback called with the response; false means that it does not count
     * @param mixed $responseCallback makes the answer to a denied request
     */
    private function __construct(
        public readonly string $key,
        public readonly int $maxAttempts,
        public readonly float $decaySeconds,
        public readonly mixed $afterCallback,
        public readonly mixed $responseCallback
    ) {
    }

    /** @param Limit|stdClass $limit as Laravel's middleware makes it; Laravel 8 to 10 tell the time in minutes */
    public static function fromLaravel(Limit|stdClass $limit, string $key): self
    {
        $decay = $limit->decaySeconds ?? null;
        $unit = 1;
        if ($decay === null) {
            $decay = $limit->decayMinutes;
            $unit = 60;
        }
        $seconds = is_numeric($decay) ? $decay * $unit : 0;
        if ($seconds <= 0 || $seconds > Windows::LONGEST) {
            throw new InvalidArgumentException(
                'The time of a rate limit must be above 0 seconds and at most ' . Windows::LONGEST . ' (four years); '
                . (is_scalar($decay) ? "\"$decay\"" : get_debug_type($decay)) . ($unit === 60 ? ' minutes' : ' seconds') . ' given'
            );
        }

        return new self(
            $key,
            (int) $limit->maxAttempts,
            (float) $seconds,
            $limit->afterCallback ?? null,
            $limit->responseCallback ?? null
        );
    }

    /** The same limit on a key of its own, for a set in which another limit has its key. */
    public function withOwnKey(): self
    {
        $key = "{$this->key}:attempts:{$this->maxAttempts}:decay:{$this->decaySeconds}";

        return new self($key, $this->maxAttempts, $this->decaySeconds, $this->afterCallback, $this->responseCallback);
    }

    /** Whether it is one of Limit::none(). */
    public function isUnlimited(): bool
    {
        return $this->maxAttempts === PHP_INT_MAX;
    }
}
