<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** The classes of the command. */
final class Classes
{
    /** Loads them all, before root becomes a user who may be unable to read their files, such as those of a checkout below /root. */
    public static function load(): void
    {
        foreach ([...(glob(CLASSES . '/*.php') ?: []), ...(glob(CLASSES . '/*/*.php') ?: [])] as $file) {
            if (basename($file) !== 'commands.php') {
                class_exists(__NAMESPACE__ . '\\' . str_replace('/', '\\', substr($file, strlen(CLASSES) + 1, -4)));
            }
        }
    }
}
