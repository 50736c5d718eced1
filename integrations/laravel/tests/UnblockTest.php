<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\RateLimiter;
use TokenBucket\FixedWindow;

/** `artisan token-bucket:unblock`. */
final class UnblockTest extends TestCase
{
    /** @return array{int, string} the exit code and the output */
    private static function unblock(string $identifier): array
    {
        $code = Artisan::call('token-bucket:unblock', ['identifier' => $identifier]);

        return [$code, trim(Artisan::output())];
    }

    public function testIdentifierInTheStatisticsUnblocksAClient(): void
    {
        $site = new Site(2);
        try {
            self::assertSame(2, $site->count(429, '/api', 7, ['X-Client' => '192.0.2.99']));
            $denied = (string) shell_exec(escapeshellarg(PHP_BINARY) . ' -r \'echo implode(" ", array_keys(TokenBucket\statistics()["api"]["most_denied"]));\'');
            self::assertStringContainsString('attacked_throttle:api:192.0.2.99', $denied);

            $artisan = escapeshellarg(PHP_BINARY) . ' ' . escapeshellarg(getenv('TB_LARAVEL_APP') . '/artisan') . ' token-bucket:unblock ';
            exec("$artisan attacked_throttle:api:192.0.2.99", $output, $code);
            self::assertSame([0, ['Unblocked: it had 5 hits.']], [$code, $output]);
            self::assertSame(1, $site->count(200, '/api', 1, ['X-Client' => '192.0.2.99']));
        } finally {
            $site->stop();
        }
    }

    public function testKeyOfTheFacadeUnblocksAClient(): void
    {
        foreach (['login|192.0.2.1', 'André', "o'brien", 'api:Andr%C3%A9'] as $key) {
            RateLimiter::hit($key, 60);
            self::assertSame([0, 'Unblocked: it had 1 hit.'], self::unblock($key));
            self::assertSame(0, RateLimiter::attempts($key));
        }
    }

    public function testLiftsABlock(): void
    {
        $this->withStorage(null);
        $key = uniqid('blocked', true);
        (new FixedWindow(null, "attacked_throttle:$key", 1, 1))->block(90);
        self::assertSame([0, 'Unblocked.'], self::unblock($key));
        self::assertFalse(RateLimiter::tooManyAttempts($key, 1));
    }

    public function testUnknownIdentifierIsAnError(): void
    {
        self::assertSame([1, 'This identifier has no hits and no block: see TokenBucket\statistics() for those that are denied most.'], self::unblock('nobody'));
    }

    public function testStorageThatDoesNotAnswerIsAnError(): void
    {
        $this->withStorage('redis+unix:///nonexistent.sock?on_error=fallback');
        RateLimiter::hit('key', 60);
        self::assertSame([1, 'The storage does not answer, so nothing was changed.'], self::unblock('key'));
        self::assertSame(1, RateLimiter::attempts('key'));
    }
}
