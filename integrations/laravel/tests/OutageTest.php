<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use PHPUnit\Framework\TestCase as PhpUnitTestCase;

/** A Redis that is killed between two requests. Laravel makes exceptions of PHP's warnings. */
final class OutageTest extends PhpUnitTestCase
{
    private static RedisServer $redis;
    private static string $log;

    /** @return list<int> what seven requests of one client get after the kill, the first of which finds the outage */
    private static function statusesAfterKill(string $onError): array
    {
        self::$redis = new RedisServer();
        self::$log = getenv('TB_LARAVEL_APP') . "/outage-$onError.log";
        $storage = 'redis+unix://' . self::$redis->socket . "?on_error=$onError";
        $server = new HttpServer(2, ['TOKEN_BUCKET_STORAGE' => $storage], ['log_errors' => '1', 'error_log' => self::$log]);
        try {
            $client = new ParallelClient($server->port);
            self::assertSame(1, $client->count(200, '/api', 1, ['X-Client' => 'before']));
            self::$redis->kill();
            // After a second without an answer to anybody the first failure is an outage; before, only the next ones.
            usleep(1_100_000);
            $statuses = [];
            for ($i = 0; $i < 7; $i++) {
                $statuses[] = $client->get([['/api', ['X-Client' => 'after']]])[0]['status'];
            }
        } finally {
            self::$redis->kill();
            $server->stop();
        }

        return $statuses;
    }

    private static function assertOneWarning(string $consequence): void
    {
        $socket = preg_quote(self::$redis->socket, '/');
        self::assertMatchesRegularExpression(
            "/^\\[.*?\\] token_bucket: Redis at $socket: cannot connect: Connection refused .*; until a call succeeds, $consequence\n$/D",
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
        $folder = (string) getenv('TB_LARAVEL_APP') . '/taken';
        foreach (['token_bucket-' . posix_geteuid(), 'token_bucket.' . posix_geteuid() . '.stand-in'] as $name) {
            mkdir("$folder/$name", 0777, true);
            chmod("$folder/$name", 0777);
        }
        $server = new HttpServer(2, [], ['token_bucket.shm_path' => $folder]);
        try {
            self::assertSame(7, (new ParallelClient($server->port))->count(500, '/api', 7, ['X-Client' => 'taken']));
        } finally {
            $server->stop();
        }
    }
}
