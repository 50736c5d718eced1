<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** An ini file of php-fpm. Root reads it, so it must be a regular file of a usual size: a FIFO or a file of /proc would keep the command waiting. */
final class IniFile
{
    private const MOST_BYTES = 1 << 20;

    /**
     * @param list<int>|null $owners the users who may change the file; null: it does not matter
     *
     * @return string|null null if it is no such file, or cannot be read
     *
     * @throws CommandError if other users may change it
     */
    public static function read(string $path, ?array $owners): ?string
    {
        FileTrust::expect($path, $owners);
        $size = is_file($path) ? filesize($path) : false;
        if ($size === false || $size > self::MOST_BYTES) {
            return null;
        }
        // A file of /proc has no size, and would give its text all the same.
        $text = @file_get_contents($path, length: $size);
        return $text === false ? null : $text;
    }
}
