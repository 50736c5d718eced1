<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\{Classes, CommandError};

/** Lines of logs are what strangers wrote: root opens its files, and then reads these as nobody. */
final class Rights
{
    private const USER = 'nobody';

    /** @return array{uid: int, gid: int, ...}|null whom root becomes; null for another user, without PHP's extension posix, and where there is no nobody */
    private static function user(): ?array
    {
        return function_exists('posix_setuid') && posix_geteuid() === 0 ? posix_getpwnam(self::USER) ?: null : null;
    }

    public static function areRoots(): bool
    {
        return self::user() !== null;
    }

    /** Gives root's rights up for good. */
    public static function drop(): void
    {
        $user = self::user();
        if ($user === null) {
            return;
        }
        Classes::load();
        if (!posix_initgroups(self::USER, $user['gid']) || !posix_setgid($user['gid']) || !posix_setuid($user['uid'])) {
            throw new CommandError('root cannot become the user ' . self::USER . ': ' . posix_strerror(posix_get_last_error()));
        }
    }
}
