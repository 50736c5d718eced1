<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use PHPUnit\Framework\TestCase;

/** The login form while the server that keeps its limits does not answer. */
final class OutageTest extends TestCase
{
    private static function lookedAtOfTwenty(string $on_error): int
    {
        $server = new Server('token_bucket', ['token_bucket.storage' => "\"redis+unix:///nonexistent.sock?on_error=$on_error\""]);
        $server->requestAll(array_fill(0, 20, [10, '/login', ['_username' => 'alice', '_password' => 'wrong']]));

        return $server->lookedAt();
    }

    public function testFallbackHoldsTheLimitOnThisHost(): void
    {
        self::assertSame(5, self::lookedAtOfTwenty('fallback'));
    }

    public function testClosedLooksAtNoPassword(): void
    {
        self::assertSame(0, self::lookedAtOfTwenty('closed'));
    }

    public function testOpenLooksAtAllPasswords(): void
    {
        self::assertSame(20, self::lookedAtOfTwenty('open'));
    }

    public function testThrowIsAnErrorAndLooksAtNoPassword(): void
    {
        self::assertSame(0, self::lookedAtOfTwenty('throw'));
    }
}
