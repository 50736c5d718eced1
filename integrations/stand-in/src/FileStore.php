<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** States in files of a folder of the user's own, which all of the user's processes on this host share. */
final class FileStore implements Store
{
    /** @var array<string, FileShelf> those that this process has used, by their first two letters */
    private array $shelves = [];
    private string $folder = '';

    public function __construct(private string $name) {}

    public function shelf(string $key): Shelf
    {
        $part = substr(self::hash($key), 0, 2);
        return $this->shelves[$part] ??= new FileShelf($this, $part);
    }

    /** What stands for a key in the files. */
    public static function hash(string $key): string { return substr(hash('sha256', $key), 0, 32); }

    /** The folder of the files, which is made and checked at its first use and `again`, if it may be gone. */
    public function folder(bool $again = false): string
    {
        if ($again || $this->folder === '') {
            $base = Settings::get('shm_path');
            // In memory, and empty after a boot, where there is such a folder.
            $base = $base !== '' ? $base : (is_dir('/dev/shm') && is_writable('/dev/shm') ? '/dev/shm' : sys_get_temp_dir());
            if (!is_dir($base)) {
                self::fail("Cannot open the directory $base for shared memory: No such file or directory; "
                    . 'set token_bucket.shm_path to one that exists');
            }
            $user = self::user();
            $own = self::folderOf("$base/token_bucket.$user.stand-in", $user);
            $this->folder = self::folderOf("$own/$this->name", $user);
        }
        return $this->folder;
    }

    /** The user of this process: the owner of what it makes. */
    private static function user(): int
    {
        if (function_exists('posix_geteuid')) {
            return posix_geteuid();
        }
        $file = tempnam(sys_get_temp_dir(), 'tb');
        $user = $file === false ? false : fileowner($file);
        $file === false || unlink($file);
        return $user === false ? getmyuid() : $user;
    }

    /** Makes a folder, which must belong to this user and be closed to others. */
    private static function folderOf(string $path, int $user): string
    {
        $isNew = mkdir($path, 0700);
        clearstatcache(true, $path);
        $found = lstat($path);
        if ($found === false) {
            self::fail("Cannot make shared memory $path: " . Transaction::$reason);
        }
        if (($found['mode'] & 0170000) !== 0040000) {
            self::fail("Shared memory $path is not a directory; remove it");
        }
        // Windows has neither such users nor such modes: there the folder is in the user's own folder for temporary files.
        if (DIRECTORY_SEPARATOR === '/' && $found['uid'] !== $user) {
            self::fail("Shared memory $path belongs to user {$found['uid']}; remove it");
        }
        if (DIRECTORY_SEPARATOR === '/' && ($found['mode'] & 0077) !== 0) {
            self::fail("Shared memory $path is open to other users; its mode must be 0700");
        }
        if (DIRECTORY_SEPARATOR === '/' && ($found['mode'] & 0700) !== 0700) {
            chmod($path, 0700);
        }
        if ($isNew && str_ends_with($path, '.stand-in')) {
            Mistake::log("the stand-in in plain PHP limits here, by files in $path: exact, but slower than the extension, and "
                . 'it counts and logs nothing');
        }
        return $path;
    }

    public static function fail(string $message): never { throw Thrown::at(new \TokenBucket\StorageException(Text::path($message))); }
}
