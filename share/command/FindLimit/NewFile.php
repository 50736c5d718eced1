<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\FileTrust;

/** Makes files, also in folders in which another user may do as it likes. */
final class NewFile
{
    private const MOST_LINKS = 40;

    /**
     * Opens a file that was not there, under a name that cannot be foreseen. A link of that name is not followed.
     *
     * @return array{resource|false, string} the file, or false; and its path
     */
    public static function open(string $folder): array
    {
        $path = "$folder/.token-bucket-" . bin2hex(random_bytes(16));
        return [@fopen($path, 'x+'), $path];
    }

    /**
     * Writes a new file and renames it to $path, so that no half file is ever there. A link in its place is replaced.
     *
     * @return string|null what has failed, in the system's words
     */
    public static function write(string $path, string $content): ?string
    {
        error_clear_last();
        $folder = (string) getcwd();
        // From within, links that another user puts into the path meanwhile lead nowhere else.
        $is_written = self::enter(dirname($path)) && self::writeHere('./' . basename($path), $content);
        $reason = error_get_last()['message'] ?? 'another user has put a link or a file there';
        @chdir($folder);
        return $is_written ? null : preg_replace('~^.*: ~', '', $reason);
    }

    /** Goes into a folder. Root follows no link on the way that another user may have put there. */
    private static function enter(string $folder): bool
    {
        if (!function_exists('posix_geteuid') || posix_geteuid() !== 0) {
            return @chdir($folder);
        }
        $begin = str_starts_with($folder, '/') ? '' : getcwd();
        $names = explode('/', "$begin/$folder");
        [$is_done, $links] = [$begin !== false && @chdir('/'), 0];
        while ($is_done && $names !== []) {
            $name = './' . array_shift($names);
            // These paths are relative, and PHP remembers what it saw of one.
            clearstatcache();
            $there = @lstat($name);
            if ($there !== false && is_link($name)) {
                $is_done = $there['uid'] === 0 && FileTrust::weakness('.', [0]) === null && $links++ < self::MOST_LINKS;
                $target = (string) @readlink($name);
                array_unshift($names, ...explode('/', $target));
                $is_done = $is_done && (!str_starts_with($target, '/') || @chdir('/'));
            } else {
                $is_done = @chdir($name) && $there !== false;
                clearstatcache();
                // Or a link has taken the place of the folder.
                $is_done = $is_done && array_slice((array) @stat('.'), 0, 2) === array_slice($there, 0, 2);
            }
        }
        return $is_done;
    }

    private static function writeHere(string $path, string $content): bool
    {
        [$file, $temporary] = self::open('.');
        if ($file === false) {
            return false;
        }
        if (@fwrite($file, $content) !== strlen($content) || !@rename($temporary, $path)) {
            @unlink($temporary);
            return false;
        }
        // The folder's owner can put another file in the place of the new one.
        [$there, $ours] = [@lstat($path), fstat($file)];
        return $there !== false && $ours !== false && array_slice($there, 0, 2) === array_slice($ours, 0, 2);
    }
}
