<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Answer;
use PHPUnit\Framework\TestCase;

/** Over HTTP, through Slim 3 and its router, with eight processes. */
final class HttpTest extends TestCase
{
    private static ?Site $server;

    public static function setUpBeforeClass(): void
    {
        self::$server = new Site();
    }

    public static function tearDownAfterClass(): void
    {
        self::$server = null;
    }

    public function test_a_limit_of_100_accepts_exactly_100_of_400_requests_of_several_processes(): void
    {
        $answers = self::$server->send(array_fill(0, 400, ['GET', '/page']), '192.0.2.1');

        self::assertSame([200 => 100, 429 => 300], $this->statuses($answers), self::$server->log());
        $workers = array_unique(array_map(fn (Answer $answer): string => $answer->header('x-worker'), $answers));
        self::assertGreaterThan(1, count($workers), 'one process answered everything');
        foreach ($answers as $answer) {
            self::assertSame('"site";q=100;w=1000000', $answer->header('ratelimit-policy'));
            self::assertSame($answer->status === 429, isset($answer->headers['retry-after']));
            self::assertSame($answer->status === 429 ? 'Too many requests' : null, json_decode($answer->body)?->title);
        }
    }

    public function test_a_route_that_costs_10_is_accepted_10_times(): void
    {
        $answers = self::$server->send(array_fill(0, 50, ['POST', '/reports']), '192.0.2.2');

        self::assertSame([200 => 10, 429 => 40], $this->statuses($answers), self::$server->log());
    }

    public function test_a_skipped_route_is_never_limited(): void
    {
        $answers = self::$server->send(array_fill(0, 150, ['GET', '/health']), '192.0.2.3');

        self::assertSame([200 => 150], $this->statuses($answers), self::$server->log());
    }

    public function test_client_that_the_named_limit_excepts_is_not_limited(): void
    {
        $answers = self::$server->send(array_fill(0, 20, ['POST', '/login', 'guess']), '198.51.100.7');

        self::assertSame([401 => 20], $this->statuses($answers), self::$server->log());
    }

    public function test_parallel_guesses_at_a_named_limit_get_5_tries_and_logins_with_the_password_none(): void
    {
        $right = self::$server->send(array_fill(0, 4, ['POST', '/login', 'right']), '192.0.2.4');
        self::assertSame([204 => 4], $this->statuses($right), self::$server->log());

        $guesses = self::$server->send(array_fill(0, 100, ['POST', '/login', 'guess']), '192.0.2.4');
        self::assertSame([401 => 5, 429 => 95], $this->statuses($guesses), self::$server->log());
        foreach ($guesses as $answer) {
            self::assertArrayNotHasKey('ratelimit', $answer->headers);
        }
    }

    public function test_pages_that_fail_or_are_not_there_take_tokens_too(): void
    {
        $answers = self::$server->send([...array_fill(0, 60, ['GET', '/broken']), ...array_fill(0, 60, ['GET', '/nothing'])], '192.0.2.5');
        $statuses = $this->statuses($answers);

        self::assertSame(20, $statuses[429], self::$server->log());
        self::assertSame(100, $statuses[500] + $statuses[404]);
    }

    public function test_a_store_that_cannot_be_opened_is_an_error_and_looks_at_no_password(): void
    {
        $server = new Site(['token_bucket.shm_path' => folder_that_is_refused()]);
        self::assertSame([500 => 20], $this->statuses($server->send(array_fill(0, 20, ['POST', '/login', 'right']), '192.0.2.6')), $server->log());
    }

    /**
     * @param list<Answer> $answers
     *
     * @return array<int, int> how many answers have each status
     */
    private function statuses(array $answers): array
    {
        $statuses = array_count_values(array_column($answers, 'status'));
        ksort($statuses);
        return $statuses;
    }
}
