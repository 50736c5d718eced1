<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use PHPUnit\Framework\TestCase;
use Symfony\Component\RateLimiter\RateLimit;
use TokenBucket\ArrayStorage;
use TokenBucket\Symfony\Limiter;
use TokenBucket\Symfony\RateLimiterFactory;
use TokenBucket\TestClock;

/** A test in which the extension's clock stands still, with buckets of its own. */
abstract class FrozenTime extends TestCase
{
    protected const BUCKET = ['policy' => 'token_bucket', 'limit' => 5, 'rate' => ['interval' => '1 minute', 'amount' => 1]];
    protected const FIXED = ['policy' => 'fixed_window', 'limit' => 5, 'interval' => '1 minute'];
    protected const SLIDING = ['policy' => 'sliding_window', 'limit' => 5, 'interval' => '1 minute'];
    protected const LIMITED = [self::BUCKET, self::FIXED, self::SLIDING];

    private ArrayStorage $storage;

    protected function setUp(): void
    {
        $this->storage = new ArrayStorage();
        TestClock::freeze(1_000_000);
    }

    protected function tearDown(): void
    {
        TestClock::resume();
    }

    /** @param array<string, mixed> $config */
    protected function factory(array $config): RateLimiterFactory
    {
        return new RateLimiterFactory($config + ['id' => $config['policy']], null, null, $this->storage);
    }

    /** @param array<string, mixed> $config */
    protected function limiter(array $config, string $key = 'client'): Limiter
    {
        $limiter = $this->factory($config)->create($key);
        self::assertInstanceOf(Limiter::class, $limiter);

        return $limiter;
    }

    /**
     * Asserts that $call returns a limit with a date $seconds from the call, rounded up to a whole second.
     *
     * @param callable(): RateLimit $call
     */
    protected static function assertRetryAfter(float $seconds, callable $call): RateLimit
    {
        $before = microtime(true);
        $limit = $call();
        $after = microtime(true);
        $date = (float) $limit->getRetryAfter()->format('U.u');
        $round = $seconds > 0 ? ceil(...) : floor(...);
        self::assertGreaterThanOrEqual($round($before + $seconds), $date);
        self::assertLessThanOrEqual($round($after + $seconds), $date);

        return $limit;
    }

    /**
     * @template E of \Throwable
     * @param class-string<E> $class
     * @return E
     */
    protected static function assertThrows(string $class, string $message, callable $call): \Throwable
    {
        try {
            $call();
        } catch (\Throwable $error) {
            self::assertInstanceOf($class, $error, get_class($error) . ': ' . $error->getMessage());
            self::assertStringContainsString($message, $error->getMessage());

            return $error;
        }
        self::fail("Nothing was thrown, but should have been: $message");
    }
}
