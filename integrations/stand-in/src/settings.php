<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The directives: of php.ini, where PHP knows them without the extension (get_cfg_var()), or as configure() has set them. */
final class Settings
{
    private const SWITCH = '0, 1, off or on';
    /** The names without `token_bucket.`, and the defaults. */
    private const DEFAULTS = [
        'storage' => 'shm:', 'prefix' => 'tb:', 'on_error' => 'fallback', 'enforce' => '1', 'lease' => '0', 'timeout_ms' => '50',
        'connect_timeout_ms' => '100', 'deny_cache' => '1', 'track_identifiers' => '1', 'warn_of_mistakes' => '1', 'shm_size' => '8M',
        'shm_path' => '', 'limits' => '', 'test_clock' => '0',
    ];
    /** Those that a DSN may set, in this order. */
    public const OF_DSN = ['prefix', 'on_error', 'enforce', 'lease', 'timeout_ms', 'connect_timeout_ms'];
    /** Those that a section of the file of limits may set. */
    public const OF_SECTION = ['on_error', 'enforce'];

    private static array $values = [];

    public static function get(string $name): mixed { return self::$values[$name] ?? (self::$values[$name] = self::read($name)); }

    /** Sets directives by their names, with `token_bucket.` in front or without. */
    public static function configure(array $directives): void
    {
        $values = [];
        foreach ($directives as $directive => $value) {
            $name = preg_replace('/^token_bucket\./', '', (string) $directive);
            if (!isset(self::DEFAULTS[$name])) {
                $known = implode(', ', array_keys(self::DEFAULTS));
                throw Thrown::configuration('token_bucket.' . Text::cut($name) . " is unknown, known are $known");
            }
            $values[$name] = self::parse($name, is_bool($value) ? (string) (int) $value : (string) $value, $must);
            if ($must !== null) {
                throw Thrown::configuration("token_bucket.$name must be $must");
            }
        }
        self::$values = $values + self::$values;
    }

    /** The value in php.ini. If it is wrong, PHP's log says so once in a process, and the default takes its place. */
    private static function read(string $name): mixed
    {
        $default = self::DEFAULTS[$name];
        $given = get_cfg_var("token_bucket.$name");
        $value = self::parse($name, is_string($given) ? $given : $default, $must);
        if ($must !== null) {
            Mistake::log("token_bucket.$name must be $must; the default is in force");
            return self::parse($name, $default);
        }
        return $value;
    }

    /** The value of a setting. `$must` tells what it must be, if it is wrong. */
    public static function parse(string $name, string $value, ?string &$must = null): mixed
    {
        $isNumber = static fn(int $least, int $most): bool => preg_match('/^\+?\d{1,10}$/D', $value) && $value >= $least && $value <= $most;
        [$isRight, $right] = match ($name) {
            'prefix' => [strlen($value) <= 64, 'at most 64 bytes'],
            'on_error' => [
                in_array($value, ['fallback', 'open', 'closed', 'throw'], true),
                '"fallback", "open", "closed" or "throw"',
            ],
            'lease' => [$isNumber(0, 4_095), 'between 0 and 4095'],
            'timeout_ms', 'connect_timeout_ms' => [$isNumber(1, 60_000), 'milliseconds between 1 and 60000'],
            'storage', 'shm_size' => [true, ''],
            'shm_path' => [$value === '' || Text::isAbsolute($value), 'the absolute path of a directory, or empty'],
            'limits' => [$value === '' || Text::isAbsolute($value), 'the absolute path of a file, or empty'],
            default => [preg_match('/^(1|on|yes|true|0|off|no|false)$/Di', $value) === 1, self::SWITCH],
        };
        $must = $isRight ? null : $right;
        $isSwitch = $right === self::SWITCH;
        return $isSwitch ? (bool) preg_match('/^(1|on|yes|true)$/Di', $value) : $value;
    }
}
