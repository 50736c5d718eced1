<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Closure;
use DateInterval;
use DateTimeInterface;
use Illuminate\Cache\RateLimiter as LaravelRateLimiter;
use Illuminate\Cache\RateLimiting\Limit;
use Illuminate\Contracts\Cache\Repository;
use InvalidArgumentException;
use stdClass;
use Throwable;
use TokenBucket\Decision;
use TokenBucket\FixedWindow;

/**
 * Laravel's rate limiter on the extension. A key has a fixed window: it opens at the first hit, ends after the decay time, and
 * then all attempts come back at once.
 */
class RateLimiter extends LaravelRateLimiter
{
    /** What statistics() counts calls under that belong to no named limiter. */
    public const NAME = 'laravel';

    final public function __construct(Repository $cache, private Windows $windows)
    {
        parent::__construct($cache);
    }

    /** Keeps the named limiters that were registered with the limiter it replaces. */
    public static function inPlaceOf(LaravelRateLimiter $limiter, Windows $windows): static
    {
        $new = new static($limiter->cache, $windows);
        $new->limiters = $limiter->limiters;

        return $new;
    }

    /**
     * The key of a client of a named limiter, such as "api:192.0.2.1": Laravel hashes both, and no operator knows the hash.
     *
     * What Laravel's facade would replace in a key is percent-encoded, so that clients whose keys differ count apart, and the
     * facade finds this key.
     *
     * @param mixed $key what Limit::by() got
     */
    public static function keyOf(string $limiter, mixed $key): string
    {
        $encode = static fn (string $text, string $more = ''): string => (string) preg_replace_callback(
            "/[^!-~]|[%&<>\"'$more]/",
            static fn (array $match) => rawurlencode($match[0]),
            $text
        );

        return $encode($limiter, ':') . ':' . $encode((string) $key);
    }

    /**
     * The limits of a named limiter, with keys of this package.
     *
     * @param array<Limit> $limits what the limiter's closure returned
     * @return array<Limit>
     */
    public static function withReadableKeys(string $limiter, array $limits): array
    {
        return array_map(static function (Limit $limit) use ($limiter): Limit {
            $limit = clone $limit;
            $limit->key = self::keyOf($limiter, $limit->key);

            return $limit;
        }, $limits);
    }

    /**
     * Charges several limits, all or none.
     *
     * @param string $name what statistics() counts the limits under
     * @param array<Limit|stdClass> $limits with a key, maxAttempts, decaySeconds or decayMinutes
     */
    public function charge(string $name, array $limits): Charge
    {
        $applied = [];
        foreach ($limits as $limit) {
            // The facade cleans keys, too, and must find the same window.
            $applied[] = AppliedLimit::fromLaravel($limit, $this->cleanRateLimiterKey($limit->key));
        }

        return (new LimitSet($this->windows, $name, $applied))->charge();
    }

    /**
     * Runs the callback if the key has an attempt left. The attempt is taken before the callback runs, so calls at the same
     * time cannot all pass, and given back if it throws.
     *
     * @param string $key
     * @param int $maxAttempts
     * @param DateTimeInterface|DateInterval|int $decaySeconds
     * @return mixed what the callback returned, true in place of null; false if there is no attempt left
     */
    public function attempt($key, $maxAttempts, Closure $callback, $decaySeconds = 60)
    {
        $limit = (int) $maxAttempts;
        if ($limit < 1) {
            return false;
        }
        $window = $this->windows->window($this->cleanRateLimiterKey($key), $limit, $this->decayInSeconds($decaySeconds), self::NAME);
        $decision = $window->attempt();
        if (!$decision->isAccepted()) {
            return false;
        }
        try {
            return $callback() ?? true;
        } catch (Throwable $thrown) {
            $decision->refund();
            throw $thrown;
        }
    }

    /**
     * @param string $key
     * @param int $maxAttempts
     * @return bool
     */
    public function tooManyAttempts($key, $maxAttempts)
    {
        $limit = (int) $maxAttempts;
        if ($limit < 1) {
            return true;
        }
        $window = $this->windows->window($this->cleanRateLimiterKey($key), $limit, Windows::LONGEST, self::NAME);

        // The limit is asked, instead of comparing a count with it, so that a dry run (enforce=0) limits no client.
        return !$window->peek()->isAccepted();
    }

    /**
     * The shortest time that a key was hit with counts; in Laravel it is the first.
     *
     * @param string $key
     * @param DateTimeInterface|DateInterval|int $decaySeconds
     * @return int the hits of the window
     */
    public function hit($key, $decaySeconds = 60)
    {
        return $this->increment($key, $decaySeconds);
    }

    /**
     * @param string $key
     * @param DateTimeInterface|DateInterval|int $decaySeconds
     * @param int $amount
     * @return int the hits of the window
     */
    public function increment($key, $decaySeconds = 60, $amount = 1)
    {
        $seconds = $this->decayInSeconds($decaySeconds);
        $amount = (int) $amount;
        if (abs($amount) > Windows::MOST_HITS) {
            throw new InvalidArgumentException(
                'RateLimiter: $amount must be ' . -Windows::MOST_HITS . ' to ' . Windows::MOST_HITS . ", $amount given"
            );
        }
        $window = $this->windows->window($this->cleanRateLimiterKey($key), Windows::MOST_HITS, $seconds, self::NAME);
        if ($amount < 0) {
            return $this->giveBack($window, -$amount);
        }

        return Windows::MOST_HITS - $window->attempt($amount)->getRemainingTokens();
    }

    /**
     * @return int the hits of the window; if fewer were there than are given back, what Laravel's own limiter would have, which is
     *     below 0. The window has 0 then, so that no client gets more attempts than its limit.
     */
    private function giveBack(FixedWindow $window, int $amount): int
    {
        $before = Windows::MOST_HITS - $window->peek()->getRemainingTokens();
        $window->refund($amount);
        $after = Windows::MOST_HITS - $window->peek()->getRemainingTokens();

        return $after === 0 ? min(0, $before - $amount) : $after;
    }

    /**
     * @param string $key
     * @param DateTimeInterface|DateInterval|int $decaySeconds
     * @param int $amount
     * @return int the hits of the window; below 0 if it had fewer than $amount
     */
    public function decrement($key, $decaySeconds = 60, $amount = 1)
    {
        return $this->increment($key, $decaySeconds, -(int) $amount);
    }

    /**
     * @param string $key
     * @return int
     */
    public function attempts($key)
    {
        return Windows::MOST_HITS - $this->windows->peek($this->cleanRateLimiterKey($key))->getRemainingTokens();
    }

    /**
     * Forgets the hits. The window keeps its end.
     *
     * @param string $key
     * @return bool
     */
    public function resetAttempts($key)
    {
        $this->windows->anyWindow($this->cleanRateLimiterKey($key))->refund(Windows::MOST_HITS);

        return true;
    }

    /**
     * @param string $key
     * @param int $maxAttempts
     * @return int never below 0
     */
    public function remaining($key, $maxAttempts)
    {
        return max(0, $maxAttempts - $this->attempts($key));
    }

    /**
     * Forgets the hits and the window.
     *
     * @param string $key
     */
    public function clear($key): void
    {
        $this->windows->anyWindow($this->cleanRateLimiterKey($key))->reset();
    }

    /**
     * @param string $key
     * @return int the whole seconds until the window ends, rounded up; 0 if it has no hits: attempt() may have given back the only one
     */
    public function availableIn($key)
    {
        $window = $this->windows->peek($this->cleanRateLimiterKey($key));

        return $window->getRemainingTokens() === Windows::MOST_HITS ? 0 : (int) ceil($window->getResetAfter());
    }

    /**
     * Forgets the hits and the block of one client.
     *
     * @param string $identifier a key, or what statistics() lists: a key with the application's prefix
     * @return Decision|null what the client had before; null if the storage does not answer, so that nothing was changed
     */
    public function unblock(string $identifier): ?Decision
    {
        $key = $this->windows->keyIn($identifier) ?? $this->cleanRateLimiterKey($identifier);
        $window = $this->windows->anyWindow($key);
        $before = $window->peek();
        if ($before->isDegraded()) {
            return null;
        }
        $window->reset();

        return $before;
    }

    /** @param DateTimeInterface|DateInterval|int $decay */
    private function decayInSeconds($decay): int
    {
        $seconds = $this->secondsUntil($decay);
        if ($decay instanceof DateTimeInterface || $decay instanceof DateInterval) {
            // A date such as the end of today may be less than a second away.
            $seconds = max(1, $seconds);
        }
        if ($seconds < 1 || $seconds > Windows::LONGEST) {
            throw new InvalidArgumentException(
                'RateLimiter: $decaySeconds must be 1 to ' . Windows::LONGEST . " (four years), $seconds given"
            );
        }

        return $seconds;
    }
}
