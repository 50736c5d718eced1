<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** The classes of the command, which the status page uses, too. */
final class Classes
{
    /** Has PHP load each when it is first used. */
    public static function register(): void
    {
        // The same callable each time: in a worker that serves many requests it is registered once.
        spl_autoload_register([self::class, 'find']);
    }

    public static function find(string $class): void
    {
        $prefix = __NAMESPACE__ . '\\';
        $file = __DIR__ . '/' . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
        }
    }

    /** Loads them all, before root becomes a user who may be unable to read their files, such as those of a checkout below /root. */
    public static function load(): void
    {
        foreach ([...(glob(__DIR__ . '/*.php') ?: []), ...(glob(__DIR__ . '/*/*.php') ?: [])] as $file) {
            if (basename($file) !== 'commands.php') {
                class_exists(__NAMESPACE__ . '\\' . str_replace('/', '\\', substr($file, strlen(__DIR__) + 1, -4)));
            }
        }
    }
}
