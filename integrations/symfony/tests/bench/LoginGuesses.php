<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\bench;

use TokenBucket\Symfony\Tests\Server;

/** How many passwords login_throttling lets be looked at, if 200 guesses arrive at eight web-server workers at once. */
final class LoginGuesses
{
    private const ROUNDS = 5;
    private const GUESSES = 200;

    public static function print(): void
    {
        $servers = ['token_bucket' => new Server('token_bucket'), 'Symfony' => new Server('symfony')];
        $looked_at = [];
        for ($round = 0; $round < self::ROUNDS; $round++) {
            foreach ($servers as $name => $server) {
                $before = $server->lookedAt();
                $guess = [10 + $round, '/login', ['_username' => 'alice', '_password' => 'wrong']];
                $server->requestAll(array_fill(0, self::GUESSES, $guess));
                $looked_at[$name][] = $server->lookedAt() - $before;
            }
        }
        printf("\n| login_throttling, 5 in 15 minutes | looked at of %d parallel guesses, in %d rounds |\n|---|---|\n", self::GUESSES, self::ROUNDS);
        foreach ($looked_at as $name => $counts) {
            sort($counts);
            printf("| %s | %s |\n", $name, implode(', ', $counts));
        }
    }
}
