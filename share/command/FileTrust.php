<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Tells whether other users can change a file, or put another one in its place. */
final class FileTrust
{
    private const MOST_LINKS = 40;
    private const TYPE = 0o170000;
    private const LINK = 0o120000;
    private const STICKY_FOLDER = 0o041000;

    /**
     * @param list<int>|null $owners the users who may change the file; null: it does not matter
     *
     * @throws CommandError if other users can
     */
    public static function expect(string $path, ?array $owners): void
    {
        $weakness = $owners === null ? null : self::weakness($path, $owners);
        if ($weakness !== null) {
            throw new CommandError(Text::printable($path) . ': root follows only what root alone may change, and ' . Text::printable($weakness['entry'], 1000) . " $weakness[reason]");
        }
        clearstatcache();
    }

    /**
     * Looks at / and each name of the path, and follows links as the kernel does. Users who cannot change what was looked at cannot lead
     * the rest of the path elsewhere.
     *
     * @param list<int> $owners the users who may change the file
     *
     * @return array{entry: string, reason: string}|null the first folder, link or file that another user can change; null if there is none
     */
    public static function weakness(string $path, array $owners): ?array
    {
        $names = explode('/', str_starts_with($path, '/') ? $path : getcwd() . "/$path");
        [$at, $links, $is_open] = ['', 0, false];
        while ($names !== []) {
            $name = array_shift($names);
            // The name before the first slash is empty.
            $entry = match ($name) {
                '', '.' => $at,
                '..' => substr($at, 0, (int) strrpos($at, '/')),
                default => "$at/$name",
            };
            $shown = $entry === '' ? '/' : $entry;
            $stat = @lstat($shown);
            if ($stat === false) {
                // There is nothing to read. In a sticky folder others can put something there before it is read.
                return $is_open ? ['entry' => $shown, 'reason' => 'is not there, in a folder for all'] : null;
            }
            $reason = self::reason($stat, $owners);
            if ($reason !== null) {
                return ['entry' => $shown, 'reason' => $reason];
            }
            if (($stat['mode'] & self::TYPE) === self::LINK) {
                $target = (string) @readlink($entry);
                if ($target === '' || ++$links > self::MOST_LINKS) {
                    return ['entry' => $shown, 'reason' => 'is a link that leads nowhere'];
                }
                array_unshift($names, ...explode('/', $target));
                $entry = str_starts_with($target, '/') ? '' : $at;
            } else {
                $is_open = ($stat['mode'] & 0o022) !== 0;
            }
            $at = $entry;
        }
        return null;
    }

    /**
     * @param array{mode: int, uid: int, ...} $stat
     * @param list<int>                       $owners
     */
    private static function reason(array $stat, array $owners): ?string
    {
        // The mode of a link says nothing. In a sticky folder, such as /tmp, only its owner can replace an entry.
        $is_writable = ($stat['mode'] & self::TYPE) !== self::LINK && ($stat['mode'] & 0o022) !== 0 && ($stat['mode'] & self::STICKY_FOLDER) !== self::STICKY_FOLDER;
        return match (true) {
            !in_array($stat['uid'], $owners, true) => 'belongs to ' . self::name($stat['uid']) . ': chown root',
            $is_writable => 'may be written to by others: chmod go-w',
            default => null,
        };
    }

    private static function name(int $user): string
    {
        $known = function_exists('posix_getpwuid') ? posix_getpwuid($user) : false;
        return $known === false ? "user $user" : $known['name'];
    }
}
