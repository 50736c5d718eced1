<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Answer;
use PHPUnit\Framework\TestCase;

/**
 * A login form with login_throttling (5 in 15 minutes by user and network, 25 by network), attacked over HTTP. What counts is
 * how many passwords are looked at.
 */
final class LoginAttackTest extends TestCase
{
    private static ?Server $server = null;

    public static function setUpBeforeClass(): void
    {
        self::$server = new Server('token_bucket');
    }

    public static function tearDownAfterClass(): void
    {
        self::$server = null;
    }

    /** @return array{0: int, 1: string, 2: array<string, string>} */
    private static function guess(int $client, string $user, string $password = 'wrong'): array
    {
        return [$client, '/login', ['_username' => $user, '_password' => $password]];
    }

    /**
     * @param list<array{0: int, 1: string, 2: array<string, string>}> $guesses
     */
    private static function lookedAtOf(array $guesses): int
    {
        $before = self::$server->lookedAt();
        self::$server->requestAll($guesses);

        return self::$server->lookedAt() - $before;
    }

    public function testOfParallelGuessesAtOneUserFiveAreLookedAt(): void
    {
        self::assertSame(5, self::lookedAtOf(array_fill(0, 100, self::guess(10, 'alice'))));
    }

    public function testADeniedGuessIsToldHowLongToWait(): void
    {
        self::$server->requestAll(array_fill(0, 5, self::guess(11, 'alice')));
        $answer = self::$server->request(...self::guess(11, 'alice'));
        self::assertSame('/login', Server::target($answer));
        $page = self::$server->request(11, '/login', [], ['Cookie: ' . strtok($answer->header('set-cookie'), ';')]);
        self::assertSame('Too many failed login attempts, please try again in 15 minutes.', $page->body);
    }

    public function testTheRightPasswordIsDeniedAfterFiveFailuresToo(): void
    {
        self::$server->requestAll(array_fill(0, 5, self::guess(12, 'alice')));
        self::assertSame('/login', Server::target(self::$server->request(...self::guess(12, 'alice', 'correct horse'))));
        self::assertSame('/home', Server::target(self::$server->request(...self::guess(13, 'alice', 'correct horse'))));
    }

    public function testOfParallelGuessesAtAHundredUsersTwentyFiveAreLookedAt(): void
    {
        $guesses = [];
        for ($i = 0; $i < 100; $i++) {
            // Every name exists, because Symfony 5.4 does not look at the password of a user whom it does not find.
            $guesses[] = self::guess(14, $i % 2 === 0 ? 'alice' : 'mallory');
        }
        self::assertSame(10, self::lookedAtOf($guesses));
        $names = [];
        for ($i = 0; $i < 100; $i++) {
            $names[] = self::guess(15, "nobody$i");
        }
        self::$server->requestAll($names);
        self::assertSame(0, self::lookedAtOf([self::guess(15, 'alice')]), '25 guesses at other names use up the limit of the network');
        self::assertSame(1, self::lookedAtOf([self::guess(16, 'alice')]));
    }

    public function testASpellingOfANameHasNoLimitOfItsOwn(): void
    {
        $guesses = [];
        foreach (['alice', 'Alice', 'ALICE', ' alice', 'alice '] as $name) {
            array_push($guesses, ...array_fill(0, 4, self::guess(17, $name)));
        }
        self::$server->requestAll($guesses);
        self::assertSame(0, self::lookedAtOf([self::guess(17, 'alice')]));
    }

    public function testSuccessesDoNotCount(): void
    {
        for ($i = 0; $i < 30; $i++) {
            self::assertSame('/home', Server::target(self::$server->request(...self::guess(18, 'alice', 'correct horse'))));
        }
        self::assertSame(5, self::lookedAtOf(array_fill(0, 20, self::guess(18, 'alice'))));
    }

    public function testASuccessResetsTheLimitOfItsUserButNotThatOfTheNetwork(): void
    {
        $looked_at = 0;
        for ($round = 0; $round < 12; $round++) {
            $looked_at += self::lookedAtOf(array_fill(0, 4, self::guess(19, 'mallory')));
            self::$server->request(...self::guess(19, 'mallory', 'her own'));
        }
        self::assertGreaterThanOrEqual(24, $looked_at, 'four failures before each of the first six successes');
        self::assertLessThanOrEqual(25, $looked_at);
    }

    public function testTwoAddressesOfANetworkAreApartOnIPv4(): void
    {
        self::assertSame(5, self::lookedAtOf(array_fill(0, 10, self::guess(20, 'alice'))));
        self::assertSame(5, self::lookedAtOf(array_fill(0, 10, self::guess(21, 'alice'))));
    }

    public function testWhatAnUntrustedClientSaysOfItsAddressIsNotBelieved(): void
    {
        $guesses = [];
        for ($i = 0; $i < 20; $i++) {
            $guesses[] = [...self::guess(23, 'alice'), ["X-Forwarded-For: 198.51.100.$i", "Forwarded: for=198.51.100.$i"]];
        }
        self::assertSame(5, self::lookedAtOf($guesses));
    }

    public function testOddNamesAreNoErrorAndGainNothing(): void
    {
        $names = ['', "\0", "alice\0", "\xff\xfe", '%00', str_repeat('a', 4096), str_repeat('a', 200_000), "a\r\nb: c", 'alice:%25', '-', '0'];
        foreach ($names as $i => $name) {
            $answer = self::$server->request(...self::guess(30 + $i, $name));
            self::assertLessThan(500, $answer->status, "the name number $i");
        }
        $answer = self::$server->request(24, '/login', ['_username[]' => 'alice', '_password' => 'x']);
        self::assertLessThan(500, $answer->status);
        $spellings = array_map(static fn (string $name): array => self::guess(25, $name), ["alice\0", "alice\t", "\x0balice", ' alice ', 'ALICE', 'alice']);
        self::$server->requestAll($spellings);
        self::assertSame(0, self::lookedAtOf([self::guess(25, 'alice')]));
    }

    public function testKilledWorkersGainNothing(): void
    {
        $server = new Server('token_bucket');
        $server->requestAll(array_fill(0, 100, self::guess(10, 'alice')), workers_to_kill: 4);
        self::assertGreaterThan(0, $server->lookedAt());
        $server->requestAll(array_fill(0, 20, self::guess(10, 'alice')));
        self::assertLessThanOrEqual(5, $server->lookedAt());
    }

    public function testALimiterOfAControllerCountsInAllWorkers(): void
    {
        $answers = self::$server->requestAll(array_fill(0, 60, [22, '/search']));
        $statuses = array_count_values(array_map(static fn (Answer $answer): int => $answer->status, $answers));
        self::assertSame([200 => 5, 429 => 55], [200 => $statuses[200] ?? 0, 429 => $statuses[429] ?? 0]);
    }
}
