<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The DSN of a storage: `shm:`, `shm:NAME` or `array:`, and its parameters. No message shows what may be a password. */
final class Dsn
{
    private const SCHEMES = [
        'shm', 'array', 'redis', 'rediss', 'redis+unix', 'redis+cluster', 'rediss+cluster', 'redis+sentinel', 'rediss+sentinel',
        'memcached', 'memcached+unix', 'mysql', 'mysql+unix',
    ];

    private function __construct(public string $scheme, public string $name, public array $overrides) {}

    /** @throws \TokenBucket\ConfigurationException naming what is not accepted, and what is */
    public static function parse(string $dsn): self
    {
        [$location, $query] = [...explode('?', $dsn, 2), ''];
        if (str_contains($query, '@') && !str_contains($location, '@')) {
            self::fail('The user, password and parameters in the storage DSN must be percent-encoded: "?" is %3F, "@" is %40');
        }
        $known = 'known are ' . implode(', ', array_map(static fn(string $scheme): string => "$scheme:", self::SCHEMES));
        [$scheme, $name] = [...explode(':', $location, 2), null];
        if ($name === null) {
            self::fail("The storage DSN must begin with a scheme, $known");
        }
        if (!in_array($scheme, self::SCHEMES, true)) {
            $meant = strtolower(trim($scheme));
            $hint = in_array($meant, self::SCHEMES, true) ? " (write \"$meant:\")" : '';
            self::fail('Unknown scheme' . Text::quoteUnlessSecret("$scheme:") . " in the storage DSN$hint, $known");
        }
        if (!in_array($scheme, ['shm', 'array'], true)) {
            self::fail("The storage \"$scheme:\" needs the extension token_bucket: its stand-in in plain PHP has shm: and array: alone");
        }
        if ($scheme === 'array' && $name !== '') {
            self::fail('DSN "array:" takes nothing after the colon');
        }
        $name = $name === '' ? 'default' : $name;
        if (!preg_match('/^[\w-]{1,64}$/D', $name)) {
            self::fail('Shared memory name' . Text::quoteUnlessSecret($name) . ' must be 1 to 64 letters, digits, "_" or "-"');
        }
        return new self($scheme, $name, self::parameters($query));
    }

    /** Whether a text is meant to be a DSN, with a mistake or without one. */
    public static function looksLikeOne(string $text): bool
    {
        $scheme = strtolower(trim(explode(':', $text)[0]));
        return $text === '' || str_contains($text, '://') || in_array($scheme, self::SCHEMES, true);
    }

    /** What to do about a DSN that stands in an ini file and that the file has probably cut. */
    public static function isProbablyCut(string $dsn): bool
    {
        [$location, $query] = [...explode('?', $dsn, 2), ''];
        $last = explode('&', $query);
        $endsInName = $query !== '' && !str_ends_with($query, '&') && !str_contains(end($last), '=');
        return !str_contains($query, '@') && ($endsInName || preg_match('/^\d+$/D', $dsn));
    }

    private static function parameters(string $query): array
    {
        $overrides = [];
        foreach (array_filter(explode('&', $query), static fn(string $pair): bool => $pair !== '') as $pair) {
            [$name, $value] = [...explode('=', $pair, 2), ''];
            if (!in_array($name, Settings::OF_DSN, true)) {
                $isName = preg_match('/^[A-Za-z0-9_-]*$/D', $name) && !str_contains($query, '@');
                $shown = $isName ? ' "' . Text::cut($name) . '"' : '';
                self::fail("Unknown parameter$shown in the storage DSN, known are: " . implode(', ', Settings::OF_DSN));
            }
            $parsed = Settings::parse($name, rawurldecode($value), $must);
            $must === null || self::fail("DSN parameter \"$name\" must be $must");
            !isset($overrides[$name]) || self::fail("DSN parameter \"$name\" is given twice");
            $overrides[$name] = $parsed;
        }
        return $overrides;
    }

    private static function fail(string $message): never { throw Thrown::configuration($message); }
}
