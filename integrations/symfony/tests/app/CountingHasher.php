<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\app;

use Symfony\Component\PasswordHasher\PasswordHasherInterface;

/** Counts the passwords that are looked at, of all processes: a byte of a file for each. It takes as long as a hash does. */
final class CountingHasher implements PasswordHasherInterface
{
    public function hash(string $plainPassword): string
    {
        return $plainPassword;
    }

    public function verify(string $hashedPassword, string $plainPassword): bool
    {
        file_put_contents(getenv('APP_FOLDER') . '/looked-at', '.', FILE_APPEND);
        usleep(20_000);

        return hash_equals($hashedPassword, $plainPassword);
    }

    public function needsRehash(string $hashedPassword): bool
    {
        return false;
    }
}
