<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use Illuminate\Auth\GenericUser;
use Illuminate\Cache\RateLimiting\Limit;
use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Routing\Middleware\ThrottleRequests as LaravelThrottleRequests;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\RateLimiter;
use InvalidArgumentException;
use Redis;

final class ThrottleRequestsTest extends TestCase
{
    protected function setUp(): void
    {
        parent::setUp();
        Carbon::setTestNow('2026-01-01 12:00:00');
    }

    public function testNamedLimiterAnswersWithHeaders(): void
    {
        for ($left = 4; $left >= 0; $left--) {
            $this->get('/api')->assertOk()->assertHeader('X-RateLimit-Limit', '5')
                ->assertHeader('X-RateLimit-Remaining', (string) $left)->assertHeaderMissing('Retry-After');
        }
        $this->travel(20)->seconds();
        $this->get('/api')->assertStatus(429)->assertHeader('X-RateLimit-Limit', '5')->assertHeader('X-RateLimit-Remaining', '0')
            ->assertHeader('Retry-After', '40')->assertHeader('X-RateLimit-Reset', (string) (Carbon::now()->getTimestamp() + 40));
    }

    public function testDeniedRequestsDoNotLengthenTheWindow(): void
    {
        for ($i = 0; $i < 50; $i++) {
            $this->get('/api');
        }
        $this->travel(60)->seconds();
        $this->get('/api')->assertOk()->assertHeader('X-RateLimit-Remaining', '4');
    }

    public function testClientsCountApart(): void
    {
        for ($i = 0; $i < 6; $i++) {
            $last = $this->get('/api', ['X-Client' => 'one']);
        }
        $last->assertStatus(429);
        $this->get('/api', ['X-Client' => 'two'])->assertOk()->assertHeader('X-RateLimit-Remaining', '4');
    }

    public function testOwnResponseOfALimit(): void
    {
        $this->get('/custom')->assertOk();
        $this->get('/custom')->assertStatus(429)->assertSee('Slow down, please.')->assertHeader('Retry-After', '60')
            ->assertHeader('X-RateLimit-Remaining', '0');
    }

    public function testLimitsOfASetAreChargedAllOrNone(): void
    {
        $team = ['X-Team' => 'red'];
        // The third client's fourth request is denied by its own limit, and costs its team nothing.
        for ($i = 0; $i < 3; $i++) {
            $this->get('/set', ['X-Client' => 'a'] + $team)->assertOk();
        }
        for ($i = 0; $i < 10; $i++) {
            $this->get('/set', ['X-Client' => 'a'] + $team)->assertStatus(429)->assertHeader('X-RateLimit-Limit', '3')->assertHeader('Retry-After', '60');
        }
        $this->get('/set', ['X-Client' => 'b'] + $team)->assertOk()->assertHeader('X-RateLimit-Limit', '5')->assertHeader('X-RateLimit-Remaining', '1');
        $this->get('/set', ['X-Client' => 'b'] + $team)->assertOk()->assertHeader('X-RateLimit-Remaining', '0');
        // Now the team is at its limit, which costs the client nothing, and has an answer of its own.
        for ($i = 0; $i < 10; $i++) {
            $this->get('/set', ['X-Client' => 'b'] + $team)->assertStatus(429)->assertSee('Your team is too busy.')->assertHeader('Retry-After', '3600');
        }
        $this->get('/set', ['X-Client' => 'b', 'X-Team' => 'blue'])->assertOk()->assertHeader('X-RateLimit-Limit', '3')
            ->assertHeader('X-RateLimit-Remaining', '0');
    }

    public function testRetryAfterOfASetIsWhenAllAccept(): void
    {
        $set = ['X-Client' => 'a', 'X-Team' => 'red'];
        for ($i = 0; $i < 3; $i++) {
            $this->get('/set', $set)->assertOk();
        }
        $this->get('/set', ['X-Client' => 'b'] + $set)->assertOk();
        $this->get('/set', ['X-Client' => 'b'] + $set)->assertOk();
        // Both limits deny: the client's for a minute, the team's for an hour.
        $this->get('/set', $set)->assertStatus(429)->assertHeader('X-RateLimit-Limit', '3')->assertHeader('Retry-After', '3600');
    }

    public function testLimitsOfASetWithTheSameKeyCountApart(): void
    {
        $this->get('/same-key')->assertOk();
        $this->get('/same-key')->assertOk();
        $this->get('/same-key')->assertStatus(429)->assertHeader('Retry-After', '60');
        $this->travel(60)->seconds();
        $this->get('/same-key')->assertOk();
        $this->get('/same-key')->assertStatus(429)->assertHeader('Retry-After', '3540');
    }

    public function testUnlimited(): void
    {
        for ($i = 0; $i < 20; $i++) {
            $this->get('/none')->assertOk()->assertHeaderMissing('X-RateLimit-Limit');
        }
        $this->get('/none-and-one')->assertOk()->assertHeader('X-RateLimit-Limit', '1');
        $this->get('/none-and-one')->assertStatus(429);
    }

    public function testAClientOfIpv6IsItsNetworkInUnnamedLimitsAndInTheReadmesExample(): void
    {
        foreach (['/ten-a-minute' => 10, '/office' => 1] as $path => $limit) {
            for ($i = 1; $i <= $limit; $i++) {
                $this->withServerVariables(['REMOTE_ADDR' => sprintf('2001:db8:7:8:%x::%x', $i * 4099, $i)]);
                $this->get($path)->assertOk();
            }
            $this->withServerVariables(['REMOTE_ADDR' => '2001:db8:7:8::ffff']);
            $this->get($path)->assertStatus(429);
            $this->withServerVariables(['REMOTE_ADDR' => '2001:db8:7:9::ffff']);
            $this->get($path)->assertOk();
        }
        self::assertSame(10, RateLimiter::attempts('throttle:2001:db8:7:8::/64:' . (self::laravelMajor() < 11 ? '1min' : '60s')));
    }

    public function testClientsOfTheOfficeAreNotLimited(): void
    {
        foreach (['10.1.2.3' => 200, '192.0.2.1' => 429] as $address => $status) {
            $this->withServerVariables(['REMOTE_ADDR' => $address]);
            $this->get('/office')->assertOk();
            $this->get('/office')->assertStatus($status);
        }
    }

    public function testLimitOfNoneDenies(): void
    {
        $this->get('/closed')->assertStatus(429)->assertHeader('X-RateLimit-Limit', '0')->assertHeader('Retry-After', '60');
    }

    public function testResponseOfTheLimiterItself(): void
    {
        $this->get('/ready-response')->assertStatus(503)->assertSee('Not today.');
    }

    public function testUnnamedLimitsOfOneTimeShareAWindow(): void
    {
        for ($i = 0; $i < 9; $i++) {
            $this->get('/ten-a-minute')->assertOk();
        }
        $this->get('/ten-a-minute-too')->assertOk()->assertHeader('X-RateLimit-Remaining', '0');
        $this->get('/ten-a-minute')->assertStatus(429);
    }

    public function testUnnamedLimitOfAShorterTimeFreesNobody(): void
    {
        for ($i = 0; $i < 4; $i++) {
            $last = $this->get('/three-in-ten-minutes');
        }
        $last->assertStatus(429)->assertHeader('Retry-After', '600');
        $this->get('/ten-a-minute')->assertOk()->assertHeader('X-RateLimit-Remaining', '9');
        $this->travel(60)->seconds();
        $this->get('/three-in-ten-minutes')->assertStatus(429)->assertHeader('Retry-After', '540');
    }

    public function testGuestsHaveTheirOwnLimit(): void
    {
        $this->get('/guest-or-user')->assertOk()->assertHeader('X-RateLimit-Limit', '2');
    }

    public function testTwoThrottlesOfARouteShowTheLowerNumber(): void
    {
        $this->get('/twice')->assertOk()->assertHeader('X-RateLimit-Limit', '2')->assertHeader('X-RateLimit-Remaining', '1');
        $this->get('/twice')->assertOk();
        $this->get('/twice')->assertStatus(429);
    }

    public function testOnlyCountsWhatAfterSays(): void
    {
        if (!method_exists(Limit::class, 'after')) {
            self::markTestSkipped('this Laravel has no Limit::after()');
        }
        for ($i = 0; $i < 20; $i++) {
            $this->get('/failures?password=correct+horse')->assertOk()->assertHeader('X-RateLimit-Remaining', '5');
        }
        for ($left = 4; $left >= 0; $left--) {
            $this->get('/failures?password=guess')->assertStatus(401)->assertHeader('X-RateLimit-Remaining', (string) $left);
        }
        $this->get('/failures?password=correct+horse')->assertStatus(429)->assertHeader('Retry-After', '60');
    }

    public function testSetWithAfterIsChargedAllOrNone(): void
    {
        if (!method_exists(Limit::class, 'after')) {
            self::markTestSkipped('this Laravel has no Limit::after()');
        }
        $never = static fn () => false;
        RateLimiter::for('api', static fn () => [
            Limit::perMinute(9)->by('plain'),
            Limit::perMinute(1)->by('after')->after(static fn () => true),
            Limit::perMinute(1)->by('never')->after($never),
        ]);
        $this->get('/api')->assertOk()->assertHeader('X-RateLimit-Remaining', '0');
        for ($i = 0; $i < 20; $i++) {
            $this->get('/api')->assertStatus(429)->assertHeader('X-RateLimit-Limit', '1');
        }
        self::assertSame(1, RateLimiter::attempts('api:plain'), 'a denied request costs nothing');
        self::assertSame(0, RateLimiter::attempts('api:never'), 'and what after() does not count is given back');
    }

    public function testFacadeSeesTheKeyOfANamedLimiter(): void
    {
        $this->get('/api', ['X-Client' => 'one']);
        self::assertSame(1, RateLimiter::attempts('api:one'));
        self::assertSame(60, RateLimiter::availableIn('api:one'));
        RateLimiter::clear('api:one');
        $this->get('/api', ['X-Client' => 'one'])->assertHeader('X-RateLimit-Remaining', '4');
    }

    public function testClientsWhoseKeysDifferInAnyByteCountApart(): void
    {
        foreach (['Andre', 'André', 'a&b', 'aab', '%61%61b', "\xff", "\xfe", '', ' ', "o'brien", '"', '<b>'] as $client) {
            $this->get('/api', ['X-Client' => $client])->assertHeader('X-RateLimit-Remaining', '4');
            self::assertSame(1, RateLimiter::attempts(RateLimiter::keyOf('api', $client)), bin2hex($client));
        }
        self::assertSame('api:Andr%C3%A9', RateLimiter::keyOf('api', 'André'));
        self::assertNotSame(RateLimiter::keyOf('a', 'b:c'), RateLimiter::keyOf('a:b', 'c'));
    }

    public function testClientOfAnUnnamedLimitIsReadable(): void
    {
        $minute = self::laravelMajor() < 11 ? '1min' : '60s';
        $this->get('/ten-a-minute');
        self::assertSame(1, RateLimiter::attempts("throttle:127.0.0.1:$minute"));

        $request = Request::create('/');
        $request->setUserResolver(static fn () => new GenericUser(['id' => 7]));
        $this->app->make(LaravelThrottleRequests::class)->handle($request, static fn () => new Response(), 10, 1, 'my');
        self::assertSame(1, RateLimiter::attempts("throttle:myuser:7:$minute"));
    }

    public function testStatisticsNameTheLimiter(): void
    {
        $name = 'named' . bin2hex(random_bytes(4));
        RateLimiter::for($name, static fn () => Limit::perMinute(1));
        $this->app->make('router')->get("/$name", static fn () => 'page')->middleware("throttle:$name");
        $this->get("/$name")->assertOk();
        $this->get("/$name")->assertStatus(429);
        $numbers = \TokenBucket\statistics()[$name];
        self::assertSame([2, 1, 1], [$numbers['checked'], $numbers['accepted'], $numbers['denied']]);
    }

    public function testTimeOutOfRangeIsNamed(): void
    {
        // Laravel 8 to 10 tell minutes, later ones seconds.
        $this->withoutExceptionHandling();
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessageMatches('/^The time of a rate limit must be above 0 seconds and at most 126144000 \(four years\); "-(1" minutes|60" seconds) given$/');
        $this->get('/nonsense');
    }

    public function testDryRunLetsAllPass(): void
    {
        $this->withStorage('array:?enforce=0');
        for ($i = 0; $i < 10; $i++) {
            $this->get('/api')->assertOk();
        }
    }

    public function testOneRoundTripARequestWhateverTheNumberOfLimits(): void
    {
        $socket = (string) getenv('REDIS_SOCKET');
        $this->withStorage("redis+unix://$socket?timeout_ms=2000&on_error=throw");
        $redis = new Redis();
        $redis->connect($socket);
        // The first request connects and loads the script.
        $this->get('/api', ['X-Client' => 'first'])->assertOk();
        $this->get('/set', ['X-Client' => 'first', 'X-Team' => 'first'])->assertOk();

        $redis->rawCommand('CONFIG', 'RESETSTAT');
        for ($i = 0; $i < 4; $i++) {
            $this->get('/api', ['X-Client' => 'first'])->assertOk();
        }
        for ($i = 0; $i < 2; $i++) {
            $this->get('/set', ['X-Client' => 'first', 'X-Team' => 'first'])->assertOk();
        }
        $calls = [];
        foreach ($redis->info('commandstats') as $command => $numbers) {
            $calls[$command] = (int) substr((string) strstr((string) $numbers, 'calls='), 6);
        }
        self::assertSame(6, $calls['cmdstat_evalsha'] ?? 0, json_encode($calls));
    }
}
