<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use Answer;
use Illuminate\Cache\RateLimiting\Limit;
use PHPUnit\Framework\TestCase as PhpUnitTestCase;

/** Requests at the same time, over HTTP, at eight workers that share a table. */
final class HttpAttackTest extends PhpUnitTestCase
{
    private const WORKERS = 8;

    private static Site $site;

    public static function setUpBeforeClass(): void
    {
        self::$site = new Site(self::WORKERS);
    }

    public static function tearDownAfterClass(): void
    {
        self::$site->stop();
    }

    public function testExactlyAsManyPassAsTheLimitSays(): void
    {
        foreach (['192.0.2.1', '192.0.2.2', '192.0.2.3'] as $client) {
            self::assertSame(5, self::$site->count(200, '/api', 100, ['X-Client' => $client]));
            self::assertSame(20, self::$site->count(429, '/api', 20, ['X-Client' => $client]));
        }
    }

    public function testUnnamedLimit(): void
    {
        self::assertSame(10, self::$site->count(200, '/ten-a-minute', 100));
    }

    public function testAnswersTellEachOfThemWhatRemains(): void
    {
        $answers = self::$site->get(array_fill(0, 40, ['/api', ['X-Client' => 'headers']]));
        $remaining = [];
        foreach ($answers as $answer) {
            self::assertSame('5', $answer->header('x-ratelimit-limit'));
            if ($answer->status === 200) {
                $remaining[] = (int) $answer->header('x-ratelimit-remaining');
            } else {
                self::assertSame('0', $answer->header('x-ratelimit-remaining'));
                self::assertContains((int) $answer->header('retry-after'), range(1, 60));
            }
        }
        sort($remaining);
        self::assertSame([0, 1, 2, 3, 4], $remaining, 'no two requests were told the same number');
    }

    public function testSetIsChargedAllOrNone(): void
    {
        // 20 clients of one team at once: the team's 5 are accepted.
        $requests = [];
        for ($i = 0; $i < 60; $i++) {
            $requests[] = ['/set', ['X-Client' => 'member' . $i % 20, 'X-Team' => 'green']];
        }
        $accepted = array_filter(self::$site->get($requests), static fn (Answer $answer) => $answer->status === 200);
        self::assertCount(5, $accepted);
        // The members whom their team's limit denied have all their own attempts: three for each, less those that passed.
        $again = [];
        for ($i = 0; $i < 60; $i++) {
            $again[] = ['/set', ['X-Client' => 'member' . $i % 20, 'X-Team' => "team$i"]];
        }
        $accepted = array_filter(self::$site->get($again), static fn (Answer $answer) => $answer->status === 200);
        self::assertCount(60 - 5, $accepted);
    }

    public function testGuessesAtOneUser(): void
    {
        $guess = '/login?user=alice@example.com&password=guess';
        self::assertSame(5, self::$site->count(401, $guess, 200));
        self::assertSame(1, self::$site->count(429, '/login?user=ALICE@example.com&password=correct+horse', 1), 'now the right one is not looked at');
        self::assertSame(1, self::$site->count(200, '/login?user=bob@example.com&password=correct+horse', 1));
    }

    public function testSuccessClearsTheCount(): void
    {
        for ($round = 0; $round < 3; $round++) {
            self::assertSame(4, self::$site->count(401, '/login?user=carol&password=guess', 4));
            self::assertSame(1, self::$site->count(200, '/login?user=carol&password=correct+horse', 1));
        }
    }

    public function testLoginWithTheDocumentedCalls(): void
    {
        $wrong = '/login-as-documented?user=dave&password=guess';
        for ($i = 0; $i < 5; $i++) {
            self::assertSame(1, self::$site->count(401, $wrong, 1));
        }
        $denied = self::$site->get([[$wrong]])[0];
        self::assertSame(429, $denied->status);
        self::assertContains((int) $denied->header('retry-after'), range(1, 60));
        // Its gap between asking and counting is that of the application: only hits already counted are seen.
        self::assertSame(60, self::$site->count(429, $wrong, 60));
    }

    public function testGuessesThatOnlyCountIfTheyFail(): void
    {
        if (!method_exists(Limit::class, 'after')) {
            self::markTestSkipped('this Laravel has no Limit::after()');
        }
        self::assertSame(5, self::$site->count(401, '/failures?password=guess', 100, ['X-Client' => 'guesser']));
        for ($i = 0; $i < 20; $i++) {
            self::assertSame(1, self::$site->count(200, '/failures?password=correct+horse', 1, ['X-Client' => 'user']));
        }
    }

    public function testForgedHeadersAreNoOtherClient(): void
    {
        $requests = [];
        for ($i = 0; $i < 40; $i++) {
            $requests[] = ['/guest-or-user', ['X-Forwarded-For' => "198.51.100.$i", 'X-Real-IP' => "198.51.100.$i"]];
        }
        $accepted = array_filter(self::$site->get($requests), static fn (Answer $answer) => $answer->status === 200);
        self::assertCount(2, $accepted);
    }

    public function testServersOfOneRedisCountTogether(): void
    {
        $environment = ['TOKEN_BUCKET_STORAGE' => 'redis+unix://' . getenv('REDIS_SOCKET') . '?timeout_ms=2000&on_error=closed'];
        $one = new Site(2, $environment);
        $other = new Site(2, $environment);
        try {
            $accepted = $one->count(200, '/api', 30, ['X-Client' => 'shared'])
                + $other->count(200, '/api', 30, ['X-Client' => 'shared']);
            self::assertSame(5, $accepted);
            self::assertSame(0, self::$site->count(429, '/api', 5, ['X-Client' => 'shared']), 'the first server counts in its own memory');
        } finally {
            $one->stop();
            $other->stop();
        }
    }

    public function testKilledServerLeavesTheCount(): void
    {
        $site = new Site(4);
        $site->count(200, '/api', 3, ['X-Client' => 'killed']);
        $site->stop();
        self::assertSame(2, self::$site->count(200, '/api', 30, ['X-Client' => 'killed']));
    }
}
