<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Symfony\Component\RateLimiter\Exception\MaxWaitDurationExceededException;
use Symfony\Component\RateLimiter\Exception\RateLimitExceededException;
use Symfony\Component\RateLimiter\Exception\ReserveNotSupportedException;
use Symfony\Component\RateLimiter\RateLimit;
use TokenBucket\TestClock;

final class LimiterTest extends FrozenTime
{
    public function testATokenBucketRefillsContinuously(): void
    {
        $limiter = $this->limiter(self::BUCKET);
        self::assertSame(0, $limiter->consume(5)->getRemainingTokens());
        $denied = self::assertRetryAfter(60, static fn (): RateLimit => $limiter->consume());
        self::assertFalse($denied->isAccepted());
        self::assertSame(5, $denied->getLimit());
        TestClock::advance(30);
        self::assertRetryAfter(30, static fn (): RateLimit => $limiter->consume());
        TestClock::advance(30);
        self::assertTrue($limiter->consume()->isAccepted());
    }

    public function testAFixedWindowComesBackAtOnce(): void
    {
        $limiter = $this->limiter(self::FIXED);
        $limiter->consume(5);
        TestClock::advance(59);
        self::assertFalse(self::assertRetryAfter(1, static fn (): RateLimit => $limiter->consume())->isAccepted());
        TestClock::advance(1);
        self::assertTrue($limiter->consume(5)->isAccepted());
    }

    public function testASlidingWindowNeverHasMoreThanItsLimit(): void
    {
        $limiter = $this->limiter(self::SLIDING);
        $limiter->consume(1);
        TestClock::advance(50);
        $limiter->consume(4);
        self::assertFalse(self::assertRetryAfter(10, static fn (): RateLimit => $limiter->consume())->isAccepted());
        TestClock::advance(10);
        self::assertTrue($limiter->consume()->isAccepted());
        self::assertFalse(self::assertRetryAfter(50, static fn (): RateLimit => $limiter->consume())->isAccepted());
    }

    public function testAnAcceptedCallMayBeRepeatedAtOnceUnlessItTookTheLastToken(): void
    {
        foreach (self::LIMITED as $config) {
            $limiter = $this->limiter($config);
            self::assertRetryAfter(0, static fn (): RateLimit => $limiter->consume(4));
            self::assertTrue(self::assertRetryAfter(60, static fn (): RateLimit => $limiter->consume())->isAccepted());
        }
    }

    public function testZeroTokensTellWhatIsLeftAndTakeNothing(): void
    {
        foreach (self::LIMITED as $config) {
            $limiter = $this->limiter($config);
            self::assertSame(5, $limiter->consume(0)->getRemainingTokens());
            $limiter->consume(5);
            $peeked = self::assertRetryAfter(60, static fn (): RateLimit => $limiter->consume(0));
            self::assertTrue($peeked->isAccepted());
            self::assertSame(0, $peeked->getRemainingTokens());
            $limiter->getNative()->block(100);
            self::assertFalse(self::assertRetryAfter(100, static fn (): RateLimit => $limiter->consume(0))->isAccepted());
        }
    }

    public function testADeniedCallCanThrow(): void
    {
        $limiter = $this->limiter(self::FIXED);
        self::assertTrue($limiter->consume(5)->ensureAccepted()->isAccepted());
        $error = self::assertThrows(RateLimitExceededException::class, 'Rate Limit Exceeded', static fn () => $limiter->consume()->ensureAccepted());
        self::assertSame(5, $error->getLimit());
    }

    public function testResetGivesEverythingBack(): void
    {
        foreach (self::LIMITED as $config) {
            $limiter = $this->limiter($config);
            $limiter->consume(5);
            $limiter->reset();
            self::assertTrue($limiter->consume(5)->isAccepted());
        }
    }

    public function testMoreTokensThanTheLimitAreAMistakeAndNeverADateWithoutEnd(): void
    {
        foreach (self::LIMITED as $config) {
            $limiter = $this->limiter($config);
            self::assertThrows(\InvalidArgumentException::class, 'more than the limit', static fn () => $limiter->consume(6));
            self::assertSame(5, $limiter->consume(0)->getRemainingTokens());
        }
        self::assertThrows(\InvalidArgumentException::class, 'more than the limit', fn () => $this->limiter(self::BUCKET)->reserve(6));
    }

    public function testANegativeNumberOfTokensIsAMistake(): void
    {
        foreach (self::LIMITED as $config) {
            self::assertThrows(\InvalidArgumentException::class, '0 or more, -1 given', fn () => $this->limiter($config)->consume(-1));
        }
        self::assertThrows(\InvalidArgumentException::class, '0 or more, -1 given', fn () => $this->limiter(self::BUCKET)->reserve(-1));
    }

    public function testAReservationTellsWhenToAct(): void
    {
        $limiter = $this->limiter(self::BUCKET);
        $now = $limiter->reserve(5);
        self::assertTrue($now->getRateLimit()->isAccepted());
        self::assertLessThanOrEqual(microtime(true), $now->getTimeToAct());
        $before = microtime(true);
        $later = $limiter->reserve(2);
        self::assertGreaterThanOrEqual($before + 120, $later->getTimeToAct());
        self::assertLessThanOrEqual(microtime(true) + 120, $later->getTimeToAct());
        self::assertFalse($later->getRateLimit()->isAccepted());
        self::assertSame(0, $later->getRateLimit()->getRemainingTokens());
    }

    public function testAReservationThatWouldWaitTooLongTakesNothing(): void
    {
        $limiter = $this->limiter(self::BUCKET);
        $limiter->consume(5);
        $refused = static fn (): RateLimit => self::assertThrows(
            MaxWaitDurationExceededException::class,
            'wait time (180 seconds) is longer than the provided maximum time (20 seconds)',
            static fn () => $limiter->reserve(3, 20),
        )->getRateLimit();
        self::assertFalse(self::assertRetryAfter(180, $refused)->isAccepted());
        self::assertSame(60.0, round($limiter->reserve(1, INF)->getWaitDuration()));
    }

    public function testABlockedClientCannotReserve(): void
    {
        $limiter = $this->limiter(self::BUCKET);
        $limiter->getNative()->block(100);
        self::assertThrows(MaxWaitDurationExceededException::class, 'accepts no reservation for 100 seconds', static fn () => $limiter->reserve());
    }

    public function testTheLongestWaitMustBeANumber(): void
    {
        self::assertThrows(\InvalidArgumentException::class, 'NAN given', fn () => $this->limiter(self::BUCKET)->reserve(1, NAN));
    }

    public function testWaitingIsExactAlthoughTheDateIsInWholeSeconds(): void
    {
        TestClock::resume();
        $limiter = $this->limiter(['policy' => 'token_bucket', 'limit' => 1, 'rate' => ['interval' => '1 second', 'amount' => 100]]);
        $limiter->consume();
        do {
            $limit = $limiter->consume();
            $limit->wait();
        } while (!$limit->isAccepted() && !$limiter->consume()->isAccepted());
        self::assertGreaterThanOrEqual(0, $limit->getRetryAfter()->getTimestamp() - time());
    }

    public function testWindowsCannotReserve(): void
    {
        foreach ([self::FIXED, self::SLIDING] as $config) {
            self::assertThrows(
                ReserveNotSupportedException::class,
                "Give it the policy \"token_bucket\", or let Symfony decide it: \"token_bucket: { left_to_symfony: [{$config['policy']}] }\".",
                fn () => $this->limiter($config)->reserve(),
            );
        }
    }
}
