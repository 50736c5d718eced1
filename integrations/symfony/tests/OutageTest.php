<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use PHPUnit\Framework\TestCase;

/** The login form while the server that keeps its limits does not answer. */
final class OutageTest extends TestCase
{
    private static function lookedAtOfTwenty(string $on_error): int
    {
        return self::attack('token_bucket', $on_error)[0];
    }

    /** @return array{int, list<int>} the passwords that are looked at of twenty, and the different statuses */
    private static function attack(string $environment, string $on_error): array
    {
        $server = new Server($environment, ['token_bucket.storage' => "\"redis+unix:///nonexistent.sock?on_error=$on_error\""]);
        $answers = $server->requestAll(array_fill(0, 20, [10, '/login', ['_username' => 'alice', '_password' => 'wrong']]));

        return [$server->lookedAt(), array_values(array_unique(array_column($answers, 'status')))];
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

    public function testDebugModeMakesNoExceptionOfTheWarning(): void
    {
        foreach (['fallback' => 5, 'closed' => 0, 'open' => 20] as $on_error => $looked_at) {
            self::assertSame([$looked_at, [302]], self::attack('token_bucket_debug', $on_error), $on_error);
        }
    }

    public function testThrowIsAnErrorAndLooksAtNoPassword(): void
    {
        self::assertSame(0, self::lookedAtOfTwenty('throw'));
    }

    public function testAFolderOfTheStoreThatCannotBeOpenedLooksAtNoPassword(): void
    {
        $server = new Server('token_bucket', ['token_bucket.shm_path' => folder_that_is_refused()]);
        $answers = $server->requestAll(array_fill(0, 20, [10, '/login', ['_username' => 'alice', '_password' => 'wrong']]));
        self::assertSame([0, [500]], [$server->lookedAt(), array_values(array_unique(array_column($answers, 'status')))]);
    }
}
