<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Symfony\Component\RateLimiter\Exception\ReserveNotSupportedException;
use Symfony\Component\RateLimiter\Policy\NoLimiter;
use Symfony\Component\RateLimiter\RateLimit;
use Symfony\Component\RateLimiter\RateLimiterFactory as SymfonyFactory;
use Symfony\Component\RateLimiter\Storage\InMemoryStorage;
use TokenBucket\Symfony\CompoundLimiter;
use TokenBucket\Symfony\CompoundRateLimiterFactory;

final class CompoundLimiterTest extends FrozenTime
{
    public function testADeniedCallChargesNoLimit(): void
    {
        $small = $this->limiter(['limit' => 2] + self::FIXED);
        $large = $this->limiter(self::BUCKET);
        $both = new CompoundLimiter([$large, $small]);
        self::assertTrue($both->consume(2)->isAccepted());
        $denied = self::assertRetryAfter(60, static fn (): RateLimit => $both->consume());
        self::assertFalse($denied->isAccepted());
        self::assertSame([0, 2], [$denied->getRemainingTokens(), $denied->getLimit()]);
        self::assertSame(3, $large->consume(0)->getRemainingTokens());
    }

    public function testZeroTokensTakeNothing(): void
    {
        $both = new CompoundLimiter([$this->limiter(self::FIXED), $this->limiter(['limit' => 2] + self::SLIDING)]);
        self::assertSame(2, $both->consume(0)->getRemainingTokens());
        self::assertSame(2, $both->consume(0)->getRemainingTokens());
    }

    public function testItResetsAllLimits(): void
    {
        $one = $this->limiter(self::FIXED);
        $other = $this->limiter(self::BUCKET);
        $both = new CompoundLimiter([$one, $other]);
        $both->consume(5);
        $both->reset();
        self::assertSame([5, 5], [$one->consume(0)->getRemainingTokens(), $other->consume(0)->getRemainingTokens()]);
    }

    public function testACompoundMayBeInACompoundAndLimitersWithoutLimitAreLeftOut(): void
    {
        $inner = new CompoundLimiter([$this->limiter(self::FIXED), new NoLimiter()]);
        self::assertSame(4, (new CompoundLimiter([$inner, $this->limiter(self::BUCKET)]))->consume()->getRemainingTokens());
        self::assertSame(PHP_INT_MAX, (new CompoundLimiter([new NoLimiter()]))->consume()->getRemainingTokens());
    }

    public function testItCannotReserve(): void
    {
        self::assertThrows(ReserveNotSupportedException::class, 'CompoundLimiter', fn () => (new CompoundLimiter([$this->limiter(self::BUCKET)]))->reserve());
    }

    public function testMistakesSayWhatIsRight(): void
    {
        $one = $this->limiter(self::FIXED);
        $theirs = (new SymfonyFactory(['id' => 'x'] + self::FIXED, new InMemoryStorage()))->create();
        self::assertThrows(\LogicException::class, 'at least one limiter', static fn () => new CompoundLimiter([]));
        self::assertThrows(\InvalidArgumentException::class, 'charged together', static fn () => new CompoundLimiter([$one, $one]));
        self::assertThrows(\InvalidArgumentException::class, 'FixedWindowLimiter given', static fn () => new CompoundLimiter([$theirs]));
        self::assertThrows(\InvalidArgumentException::class, 'more than the limit', static fn () => (new CompoundLimiter([$one]))->consume(6));
        self::assertThrows(\InvalidArgumentException::class, '-1 given', static fn () => (new CompoundLimiter([$one]))->consume(-1));
        $many = array_map(fn (int $i) => $this->limiter(self::FIXED, "client $i"), range(1, 17));
        self::assertThrows(\InvalidArgumentException::class, '16', static fn () => new CompoundLimiter($many));
    }

    public function testAFactoryMakesCompoundsAndMayGiveLimitersKeysOfTheirOwn(): void
    {
        $own = $this->factory(self::FIXED);
        $shared = $this->factory(['limit' => 3] + self::SLIDING);
        $factory = new CompoundRateLimiterFactory(['own' => $own, 'shared' => $shared], ['shared' => 'all']);
        self::assertTrue($factory->create('one')->consume(2)->isAccepted());
        self::assertFalse($factory->create('other')->consume(2)->isAccepted());
        self::assertSame(5, $own->create('other')->consume(0)->getRemainingTokens());
        self::assertSame(1, $shared->create('all')->consume(0)->getRemainingTokens());
        self::assertThrows(\LogicException::class, 'shard', static fn () => (new CompoundRateLimiterFactory([$own], ['shard' => 'x']))->create());
    }
}
