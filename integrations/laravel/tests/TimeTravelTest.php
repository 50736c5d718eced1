<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\RateLimiter;

final class TimeTravelTest extends TestCase
{
    public function testTravelThatBeginsInRunningTime(): void
    {
        RateLimiter::hit('key', 60);
        $this->travel(50)->seconds();
        self::assertSame(1, RateLimiter::attempts('key'));
        $this->travel(15)->seconds();
        self::assertSame(0, RateLimiter::attempts('key'));
    }

    public function testTravelToADateAndBack(): void
    {
        RateLimiter::hit('key', 3_600);
        $this->travelTo(Carbon::now()->addDay(), static function (): void {
            self::assertSame(0, RateLimiter::attempts('key'));
        });
        self::assertSame(1, RateLimiter::attempts('key'));
    }

    public function testClockOfCarbonItself(): void
    {
        \Carbon\Carbon::setTestNow('2030-01-01');
        \Carbon\CarbonImmutable::setTestNow('2030-01-01');
        RateLimiter::hit('key', 60);
        self::assertSame(60, RateLimiter::availableIn('key'));
        Carbon::setTestNow('2030-01-01 00:00:59');
        self::assertSame(1, RateLimiter::availableIn('key'));
        Carbon::setTestNow('2030-01-01 00:01:00');
        self::assertSame(0, RateLimiter::attempts('key'));
    }

    public function testRequestsTravelToo(): void
    {
        Carbon::setTestNow('2026-01-01 12:00:00');
        $this->get('/half-a-minute')->assertOk();
        $this->get('/half-a-minute')->assertStatus(429)->assertHeader('Retry-After', '30');
        $this->travel(29)->seconds();
        $this->get('/half-a-minute')->assertStatus(429)->assertHeader('Retry-After', '1');
        $this->travel(1)->seconds();
        $this->get('/half-a-minute')->assertOk();
    }
}
