<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use DateInterval;
use Illuminate\Cache\RateLimiter as LaravelRateLimiter;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\RateLimiter;
use InvalidArgumentException;
use RuntimeException;
use Symfony\Component\HttpFoundation\Response;
use TokenBucket\FixedWindow;
use TokenBucket\Laravel\ChargedGroup;

final class RateLimiterTest extends TestCase
{
    protected function setUp(): void
    {
        parent::setUp();
        Carbon::setTestNow('2026-01-01 12:00:00.25');
    }

    public function testCountsHitsUntilTheWindowEnds(): void
    {
        self::assertSame(0, RateLimiter::attempts('key'));
        self::assertSame(1, RateLimiter::hit('key', 60));
        $this->travel(30)->seconds();
        self::assertSame(2, RateLimiter::hit('key', 60));
        self::assertSame(2, RateLimiter::attempts('key'));
        self::assertSame(30, RateLimiter::availableIn('key'));
        $this->travel(30)->seconds();
        self::assertSame(0, RateLimiter::attempts('key'));
        self::assertSame(0, RateLimiter::availableIn('key'));
    }

    public function testTellsWhatRemains(): void
    {
        RateLimiter::hit('key');
        RateLimiter::hit('key');
        self::assertSame(3, RateLimiter::remaining('key', 5));
        self::assertSame(3, RateLimiter::retriesLeft('key', 5));
        self::assertSame(0, RateLimiter::remaining('key', 1));
    }

    public function testTooManyAttemptsAsksAndCountsNothing(): void
    {
        self::assertFalse(RateLimiter::tooManyAttempts('key', 1));
        self::assertFalse(RateLimiter::tooManyAttempts('key', 1));
        RateLimiter::hit('key', 60);
        self::assertTrue(RateLimiter::tooManyAttempts('key', 1));
        self::assertFalse(RateLimiter::tooManyAttempts('key', 2));
        self::assertSame(1, RateLimiter::attempts('key'));
        $this->travel(59)->seconds();
        self::assertTrue(RateLimiter::tooManyAttempts('key', 1));
        $this->travel(1)->seconds();
        self::assertFalse(RateLimiter::tooManyAttempts('key', 1));
    }

    public function testIncrementsAndDecrementsByAnyAmount(): void
    {
        self::assertSame(5, RateLimiter::increment('key', 60, 5));
        self::assertSame(3, RateLimiter::decrement('key', 60, 2));
        self::assertSame(3, RateLimiter::increment('key', 60, 0));
        self::assertSame(-7, RateLimiter::decrement('key', 60, 10), 'as Laravel says');
        self::assertSame(1, RateLimiter::hit('key'), 'but no attempt more than the limit');
        self::assertSame(-5, RateLimiter::decrement('no window', 60, 5));
        self::assertSame([0, 0], [RateLimiter::attempts('no window'), RateLimiter::availableIn('no window')]);
    }

    public function testAmountOutOfRangeIsRefused(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('RateLimiter: $amount must be -16777214 to 16777214, 16777215 given');
        RateLimiter::increment('key', 60, 16_777_215);
    }

    public function testClearForgetsTheWindow(): void
    {
        RateLimiter::hit('key', 60);
        RateLimiter::clear('key');
        self::assertSame(0, RateLimiter::attempts('key'));
        self::assertSame(0, RateLimiter::availableIn('key'));
    }

    public function testResetAttemptsKeepsTheEndOfTheWindow(): void
    {
        RateLimiter::increment('key', 60, 5);
        self::assertTrue((bool) RateLimiter::resetAttempts('key'));
        self::assertSame(0, RateLimiter::attempts('key'));
        self::assertSame(0, RateLimiter::availableIn('key'), 'Laravel says 60, and lets the client in');
    }

    public function testAttemptRunsTheCallbackAsOftenAsTheLimitSays(): void
    {
        $runs = 0;
        $run = static function () use (&$runs): void {
            $runs++;
        };
        self::assertTrue(RateLimiter::attempt('key', 2, $run, 60));
        self::assertTrue(RateLimiter::attempt('key', 2, $run, 60));
        self::assertFalse(RateLimiter::attempt('key', 2, $run, 60));
        self::assertSame(2, $runs);
        $this->travel(60)->seconds();
        self::assertTrue(RateLimiter::attempt('key', 2, $run, 60));
    }

    public function testAttemptReturnsWhatTheCallbackReturned(): void
    {
        self::assertSame('sent', RateLimiter::attempt('key', 5, static fn () => 'sent'));
        self::assertSame(0, RateLimiter::attempt('key', 5, static fn () => 0));
    }

    public function testAttemptIsTakenBeforeTheCallbackRuns(): void
    {
        RateLimiter::attempt('key', 1, function (): void {
            self::assertFalse(RateLimiter::attempt('key', 1, static fn () => self::fail('a second call got in')));
        });
        self::assertSame(1, RateLimiter::attempts('key'));
    }

    public function testAttemptOfACallbackThatThrowsIsGivenBack(): void
    {
        try {
            RateLimiter::attempt('key', 1, static fn () => throw new RuntimeException('mail server is down'));
            self::fail('nothing was thrown');
        } catch (RuntimeException $thrown) {
            self::assertSame('mail server is down', $thrown->getMessage());
        }
        self::assertSame([0, 0], [RateLimiter::attempts('key'), RateLimiter::availableIn('key')]);
        RateLimiter::hit('key', 60);
        self::assertSame([1, 60], [RateLimiter::attempts('key'), RateLimiter::availableIn('key')]);
    }

    public function testAResponseThatDoesNotCountLeavesWhatWasThere(): void
    {
        foreach ([6 => false, 5 => true] as $left => $counts) {
            $window = new FixedWindow('array:', "after:$left", 6, 60);
            $group = new ChargedGroup($window->attempt(), static fn () => $counts);
            $group->settle(new Response());
            self::assertSame([$left, $left], [$group->decision->getRemainingTokens(), $window->peek()->getRemainingTokens()]);
        }
    }

    public function testTimesMayBeDatesAndIntervals(): void
    {
        RateLimiter::hit('date', Carbon::now()->addMinutes(2));
        RateLimiter::hit('interval', new DateInterval('PT3M'));
        RateLimiter::hit('past', Carbon::now()->subMinute());
        self::assertSame(120, RateLimiter::availableIn('date'));
        self::assertSame(180, RateLimiter::availableIn('interval'));
        self::assertSame(1, RateLimiter::availableIn('past'));
    }

    public function testTimeOutOfRangeIsRefused(): void
    {
        foreach ([0, -60, 126_144_001] as $seconds) {
            try {
                RateLimiter::hit('key', $seconds);
                self::fail("$seconds was accepted");
            } catch (InvalidArgumentException $refused) {
                self::assertSame("RateLimiter: \$decaySeconds must be 1 to 126144000 (four years), $seconds given", $refused->getMessage());
            }
        }
    }

    public function testLimitOfNoneIsNeverReached(): void
    {
        self::assertTrue(RateLimiter::tooManyAttempts('key', 0));
        self::assertFalse(RateLimiter::attempt('key', 0, static fn () => self::fail('a call got in')));
        self::assertSame(0, RateLimiter::remaining('key', 0));
    }

    public function testKeysThatDifferInAccentsShareAWindowAsInLaravel(): void
    {
        RateLimiter::hit('André|192.0.2.1');
        self::assertSame(1, RateLimiter::attempts('Andre|192.0.2.1'));
    }

    public function testAnyKeyIsCounted(): void
    {
        foreach (['', "o'brien|::1", "\xff\xfe", str_repeat('long', 5_000), "line\nbreak\0", '5'] as $key) {
            $this->withStorage('array:');
            self::assertSame(1, RateLimiter::hit($key, 60));
            self::assertTrue(RateLimiter::tooManyAttempts($key, 1), bin2hex(substr($key, 0, 20)));
        }
    }

    public function testLongKeysThatBeginAlikeAreApart(): void
    {
        RateLimiter::hit(str_repeat('a', 10_000) . 'b');
        self::assertSame(0, RateLimiter::attempts(str_repeat('a', 10_000) . 'c'));
    }

    public function testLimitMayBeAString(): void
    {
        // As env() or the configuration may give it.
        RateLimiter::hit('key', '60');
        self::assertTrue(RateLimiter::tooManyAttempts('key', '1'));
        self::assertSame(0, RateLimiter::remaining('key', '1'));
    }

    public function testShortestTimeOfAKeyCounts(): void
    {
        RateLimiter::hit('key', 60);
        RateLimiter::hit('key', 600);
        self::assertSame(60, RateLimiter::availableIn('key'));
        RateLimiter::hit('key', 10);
        self::assertSame(10, RateLimiter::availableIn('key'));
    }

    public function testDryRunLimitsNobody(): void
    {
        $this->withStorage('array:?enforce=0');
        RateLimiter::hit('dry', 60);
        self::assertFalse(RateLimiter::tooManyAttempts('dry', 1));
        self::assertTrue(RateLimiter::attempt('dry', 1, static fn () => true));
    }

    public function testBlockOfTheExtensionDeniesUntilItsEnd(): void
    {
        $this->withStorage(null);
        $key = uniqid('blocked', true);
        (new FixedWindow(null, "attacked_throttle:$key", 1, 1))->block(90);
        self::assertTrue(RateLimiter::tooManyAttempts($key, 100));
        self::assertFalse(RateLimiter::attempt($key, 100, static fn () => true));
        self::assertSame(90, RateLimiter::availableIn($key));
        RateLimiter::clear($key);
        self::assertFalse(RateLimiter::tooManyAttempts($key, 100));
    }

    public function testServerThatFailsIsAnsweredByOnError(): void
    {
        $missing = 'redis+unix:///nonexistent.sock?on_error=';
        foreach (['open' => false, 'closed' => true] as $policy => $isLimited) {
            $this->withStorage($missing . $policy);
            self::assertSame($isLimited, RateLimiter::tooManyAttempts('key', 5), $policy);
            self::assertSame(!$isLimited, RateLimiter::attempt('key', 5, static fn () => true), $policy);
        }
    }

    public function testMacrosWorkWhereLaravelHasThem(): void
    {
        if (!method_exists(LaravelRateLimiter::class, 'macro')) {
            self::markTestSkipped('this Laravel has no macros for its limiter');
        }
        LaravelRateLimiter::macro('hitTwice', function (string $key): int {
            $this->hit($key);

            return $this->hit($key);
        });
        self::assertSame(2, RateLimiter::hitTwice('key'));
    }
}
