<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\{Classes, CommandError};

/** Lines of logs are what strangers wrote: root opens its files, and then reads these as nobody. */
final class Rights
{
    private const USER = 'nobody';

    /**
     * Without PHP's extension posix, or a user nobody, root stays root.
     *
     * @param bool $for_a_while whether restore() follows: the rights can then be had back
     */
    public static function drop(bool $for_a_while): void
    {
        $user = function_exists('posix_seteuid') && posix_geteuid() === 0 ? posix_getpwnam(self::USER) : false;
        if ($user === false) {
            return;
        }
        Classes::load();
        $is_done = posix_initgroups(self::USER, $user['gid']) && ($for_a_while
            ? posix_setegid($user['gid']) && posix_seteuid($user['uid'])
            : posix_setgid($user['gid']) && posix_setuid($user['uid']));
        if (!$is_done) {
            throw new CommandError('root cannot become the user ' . self::USER . ': ' . posix_strerror(posix_get_last_error()));
        }
    }

    /** What drop() took for a while. */
    public static function restore(): void
    {
        if (function_exists('posix_seteuid') && posix_getuid() === 0 && posix_geteuid() !== 0) {
            posix_seteuid(0);
            posix_setegid(0);
        }
    }
}
