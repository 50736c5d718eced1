<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use PHPUnit\Framework\TestCase as PhpUnitTestCase;
use Server;

/** A Redis that is killed between two requests. Laravel makes exceptions of PHP's warnings. */
final class OutageTest extends PhpUnitTestCase
{
    private static Server $redis;
    private static string $log;

    /** @return list<int> what seven requests of one client get after the kill, the first of which finds the outage */
    private static function statusesAfterKill(string $onError): array
    {
        self::$redis = new Server('redis');
        self::$log = getenv('TB_LARAVEL_APP') . "/outage-$onError.log";
        $site = new Site(2, ['TOKEN_BUCKET_STORAGE' => self::$redis->dsn("on_error=$onError")], ['log_errors' => '1', 'error_log' => self::$log]);
        try {
            self::assertSame(1, $site->count(200, '/api', 1, ['X-Client' => 'before']));
            self::$redis->kill();
            // After a second without an answer to anybody the first failure is an outage; before, only the next ones.
            usleep(1_100_000);
            $statuses = [];
            for ($i = 0; $i < 7; $i++) {
                $statuses[] = $site->get([['/api', ['X-Client' => 'after']]])[0]->status;
            }
        } finally {
            self::$redis->kill();
            $site->stop();
        }

        return $statuses;
    }

    private static function assertOneWarning(string $consequence): void
    {
        $port = self::$redis->port;
        self::assertMatchesRegularExpression(
            "/^\\[.*?\\] token_bucket: Redis at 127\\.0\\.0\\.1:$port: cannot connect: Connection refused .*; until a call succeeds, $consequence\n$/D",
            (string) file_get_contents(self::$log)
        );
    }

    public function testFallbackHoldsTheLimitOnThisHost(): void
    {
        self::assertSame([200, 200, 200, 200, 200, 429, 429], self::statusesAfterKill('fallback'));
        self::assertOneWarning('limits are enforced in this host\'s shared memory');
    }

    public function testOpenAcceptsAll(): void
    {
        self::assertSame([200, 200, 200, 200, 200, 200, 200], self::statusesAfterKill('open'));
        self::assertOneWarning('every call is accepted');
    }

    public function testClosedDeniesAll(): void
    {
        self::assertSame([429, 429, 429, 429, 429, 429, 429], self::statusesAfterKill('closed'));
        self::assertOneWarning('every call is denied');
    }

    public function testAFolderOfTheStoreThatCannotBeOpenedIsAnErrorAndLooksAtNoPassword(): void
    {
        $site = new Site(2, [], ['token_bucket.shm_path' => folder_that_is_refused()]);
        try {
            self::assertSame(7, $site->count(500, '/api', 7, ['X-Client' => 'taken']));
        } finally {
            $site->stop();
        }
    }
}
