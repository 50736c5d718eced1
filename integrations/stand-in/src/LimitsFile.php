<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * The file of token_bucket.limits: read at its first use, and again when it has changed.
 *
 * A process looks at the file once a second, and reads a changed one when nothing was written to it for half a second. A file that has a
 * mistake, or is gone, changes nothing: a warning says so, once for each version of the file.
 */
final class LimitsFile
{
    private const REST = 0.5;
    private const MAX_SIZE = 1 << 20;

    private static ?NamedLimits $limits = null;
    /** The version that was looked at last; '' if there was no file. */
    private static string $seen = '';
    private static string $path = '';
    private static float $lookAt = 0.0;
    /** @var array<string, true> the files of clients that it names */
    public static array $others = [];

    /** The limits in force. */
    public static function limits(): NamedLimits
    {
        $path = Settings::get('limits');
        if ($path !== self::$path) {
            [self::$path, self::$limits, self::$seen] = [$path, null, ''];
        }
        if (self::$limits !== null && microtime(true) < self::$lookAt) {
            return self::$limits;
        }
        if ($path === '') {
            throw Thrown::at(new \TokenBucket\ConfigurationException(
                'token_bucket.limits is empty here: set it in php.ini, to the path of a file with limits',
            ));
        }
        self::$lookAt = microtime(true) + 1;
        $before = self::$seen;
        try {
            self::$limits = self::readIfChanged($path) ?? self::$limits;
        } catch (Wrong $wrong) {
            $error = "token_bucket.limits: " . Text::path($path) . ": {$wrong->getMessage()}";
            if (self::$limits === null) {
                // The next call looks again.
                self::$seen = '';
                throw Thrown::at(new \TokenBucket\ConfigurationException($error));
            }
            // A missing file is told once: until there is one again.
            if (self::$seen !== '' || $before !== '') {
                Mistake::warn("$error; the limits that were read before stay in force");
            }
        }
        return self::$limits;
    }

    /** The limits in force, if the file was read. */
    public static function limitsInUse(): ?NamedLimits { return self::$limits === null ? null : self::limits(); }

    /** Reads the file if it is another version than the one that was seen last. */
    private static function readIfChanged(string $path): ?NamedLimits
    {
        $version = self::version($path, $changedAt) ?? throw new Wrong('No such file or directory');
        if ($version === self::$seen) {
            return null;
        }
        // PHP tells whole seconds: the file is left alone until it is sure that nothing was written for so long.
        $rest = self::$limits === null ? 0 : $changedAt + 1 + self::REST - microtime(true);
        if ($rest > 0 && $rest <= 1 + self::REST) {
            self::$lookAt = microtime(true) + $rest;
            return null;
        }
        self::$seen = $version;
        if (!is_file($path)) {
            throw new Wrong('must be a regular file');
        }
        $text = @file_get_contents($path, false, null, 0, self::MAX_SIZE + 1);
        self::$others = [];
        try {
            return self::parse($path, $text);
        } finally {
            // With the files that it names.
            self::$seen = self::version($path) ?? '';
        }
    }

    /** What tells a version of the file and of those that it names from others; null if it is not there. */
    private static function version(string $path, ?int &$changedAt = null): ?string
    {
        [$version, $changedAt] = ['', 0];
        foreach ([$path, ...array_map('strval', array_keys(self::$others))] as $file) {
            clearstatcache(true, $file);
            $found = file_exists($file) ? @stat($file) : false;
            if ($found === false && $file === $path) {
                self::$seen = '';
                return null;
            }
            $version .= $found === false ? '-' : "{$found['dev']} {$found['ino']} {$found['size']} {$found['mtime']} {$found['ctime']} ";
            $changedAt = max($changedAt, $found['mtime'] ?? 0, $found['ctime'] ?? 0);
        }
        return $version;
    }

    private static function parse(string $path, string|false $text): NamedLimits
    {
        return match (true) {
            $text === false => throw new Wrong(preg_replace('/^.*: /s', '', error_get_last()['message'] ?? 'it cannot be read')),
            strlen($text) > self::MAX_SIZE => throw new Wrong('must be at most 1 MiB'),
            default => NamedLimits::ofText($text, dirname($path)),
        };
    }
}
