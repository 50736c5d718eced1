<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Makes files, also in folders in which another user may do as it likes. */
final class NewFile
{
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
        $is_written = @chdir(dirname($path)) && self::writeHere('./' . basename($path), $content);
        $reason = error_get_last()['message'] ?? 'another process has put its own file there';
        @chdir($folder);
        return $is_written ? null : preg_replace('~^.*: ~', '', $reason);
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
