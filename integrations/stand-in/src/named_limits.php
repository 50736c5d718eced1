<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** The limits that an operator names in a file, one section each. */
final class NamedLimits
{
    /** The most limits and sets in a file. */
    private const MOST = 1_000;
    private const NO_SECTION = 'a section must come first: [the limit\'s name]';

    /** @param array<string, Section> $limits in the order of their names */
    private function __construct(public array $limits) {}

    public static function ofText(string $text, string $folder): self
    {
        if (str_contains($text, "\0")) {
            throw new Wrong('must be text, without NUL bytes', 1);
        }
        $sections = [];
        foreach (explode("\n", $text) as $i => $line) {
            foreach (self::read($line, $i + 1) as $key => $value) {
                if (is_array($value) && !str_ends_with((string) $key, '[]')) {
                    count($sections) < self::MOST || throw new Wrong('must have at most ' . self::MOST . ' limits', $i + 1);
                    $sections[] = new Section($i + 1, (string) $key);
                } else {
                    $sections === [] && throw new Wrong(self::NO_SECTION, $i + 1);
                    end($sections)->set($i + 1, (string) $key, (string) $value, $folder);
                }
            }
        }
        return new self(self::check($sections !== [] ? $sections : throw new Wrong(self::NO_SECTION, 1)));
    }

    /** What a line says, by PHP's own reader of ini files. */
    private static function read(string $line, int $number): array
    {
        $start = ltrim($line);
        if ($start === '' || $start[0] === ';') {
            return [];
        }
        $found = @parse_ini_string("$line\n", true, INI_SCANNER_RAW);
        if ($found === [] && $start[0] !== '[') {
            // PHP's own reader gives a key without a value to the extension, and nothing to this.
            return [trim(explode(';', $line)[0]) => ''];
        }
        if ($found === false) {
            throw new Wrong('must be [name] or key = value; a value with special characters needs "quotes"', $number);
        }
        // `key[] = value`: no key of a limit is a list.
        $isList = $start[0] !== '[' && is_array(reset($found));
        return $isList ? [key($found) . '[]' => ''] : $found;
    }

    /** Each name must be there once, and each set name limits of the file. */
    private static function check(array $sections): array
    {
        $limits = [];
        foreach ($sections as $section) {
            $section->finish();
            !isset($limits[$section->name]) || throw new Wrong("there are two sections [$section->name]", $section->line);
            $limits[$section->name] = $section;
        }
        $others = array_filter($limits, static fn(Section $section): bool => $section->value('like') === null);
        foreach (array_diff_key($limits, $others) as $section) {
            $section->become($others);
        }
        foreach ($limits as $section) {
            $section->checkMembers($limits);
            $section->checkLeave();
        }
        ksort($limits, SORT_STRING);
        return $limits;
    }

    /** The numbers of the limit of this name, if the identifier is one of its clients. A calendar's are not known here. */
    public function limitOn(string $name, string $identifier): ?Limit
    {
        $section = $this->limits[$name] ?? null;
        if ($section === null || !str_starts_with($identifier, "$section->key:")) {
            return null;
        }
        [$own] = $section->forClient(substr($identifier, strlen($section->key) + 1));
        return $own->calendar === null ? $own->limit : null;
    }
}

/**
 * The file of token_bucket.limits, and the files of clients that it names: read at their first use, and again when they have changed.
 *
 * A process looks at them once a second, and reads a changed one when nothing was written to it for half a second. A file that has a
 * mistake, or is gone, changes nothing: a warning says so, once for each version of the file.
 */
final class LimitsFile
{
    private const REST = 0.5;

    private static ?NamedLimits $limits = null;
    /** The version that was read last; '' if there was no file. */
    private static string $seen = '';
    private static string $path = '';
    private static float $lookAt = 0.0;
    /** @var array<string, array{string, Clients|null}> files of clients: the version that was read, and what it says if it is right */
    private static array $clients = [];
    /** @var array<string, array{string, Clients|null}> the same before the file of limits was read again */
    private static array $clientsBefore = [];

    /** The limits in force. */
    public static function limits(): NamedLimits
    {
        $path = Settings::get('limits');
        if ($path !== self::$path) {
            [self::$path, self::$limits, self::$seen, self::$clients] = [$path, null, '', []];
        }
        if (self::$limits !== null && microtime(true) < self::$lookAt) {
            return self::$limits;
        }
        if ($path === '') {
            $given = get_cfg_var('token_bucket.limits');
            if (is_string($given) && $given !== '' && !Text::isAbsolute($given)) {
                throw Thrown::configuration('token_bucket.limits must be an absolute path; in php.ini it is ' . Text::path($given));
            }
            throw Thrown::configuration('token_bucket.limits is empty: set it in php.ini to the path of a file of limits');
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
                throw Thrown::configuration($error);
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

    /** Reads the file if it, or one that it names, is another version than the one that was read last. */
    private static function readIfChanged(string $path): ?NamedLimits
    {
        $disabled = disabled('file_exists', 'stat', 'is_file', 'file_get_contents', 'parse_ini_string');
        $disabled === '' || throw new Wrong($disabled);
        [$version, $rest] = self::version($path);
        if ($version === '') {
            self::$seen = '';
            throw new Wrong(self::whyMissing($path));
        }
        if ($version === self::$seen) {
            $rests = [];
            foreach (self::$clients as $file => [$read]) {
                [$found, $itsRest] = self::version((string) $file);
                $rests = $found === $read ? $rests : [...$rests, $itsRest];
            }
            if ($rests === []) {
                return null;
            }
            // A file of clients that is being written is left for later.
            $rest = min($rests);
        }
        if (self::$limits !== null && $rest > 0) {
            self::$lookAt = microtime(true) + $rest;
            return null;
        }
        // A process begins with what there is, and reads that once more.
        self::$seen = $rest > 0 ? 'not at rest' : $version;
        [self::$clientsBefore, self::$clients] = [self::$clients, []];
        return NamedLimits::ofText(self::read($path, 1), dirname($path));
    }

    /** A file of clients. If it has not changed, or is being written, it is as it was read before. */
    public static function clients(string $path): Clients
    {
        [$version, $rest] = self::version($path);
        [$before, $clients] = self::$clients[$path] ?? self::$clientsBefore[$path] ?? ['', null];
        if ($clients !== null && ($version === $before || $version !== '' && self::$limits !== null && $rest > 0)) {
            self::$clients[$path] = [$before, $clients];
            return $clients;
        }
        self::$clients[$path] = [$rest > 0 ? 'not at rest' : $version, null];
        try {
            $version !== '' || throw new Wrong(self::whyMissing($path));
            $read = static fn(): string => self::read($path, 8);
            return self::$clients[$path][1] = Clients::ofFile($path, $rest > 0 ? '' : $version, $read);
        } catch (Wrong $wrong) {
            throw new Wrong(Text::path($path) . ": {$wrong->getMessage()}");
        }
    }

    /**
     * What tells a version of a file from others, '' if it is not there; and how long nothing was written to it yet has to be seen. PHP
     * tells whole seconds.
     */
    private static function version(string $path): array
    {
        clearstatcache(true, $path);
        $found = @file_exists($path) ? @stat($path) : false;
        if ($found === false) {
            return ['', 0];
        }
        $rest = max($found['mtime'], $found['ctime']) + 1 + self::REST - microtime(true);
        $version = implode(' ', [$found['dev'], $found['ino'], $found['size'], $found['mtime'], $found['ctime']]);
        return [$version, $rest <= 1 + self::REST ? max(0, $rest) : 0];
    }

    /** PHP says nothing of a file that is not there. */
    private static function whyMissing(string $path): string
    {
        error_clear_last();
        $isThere = @file_exists($path);
        return $isThere || error_get_last() === null ? 'No such file or directory' : 'open_basedir does not allow it';
    }

    private static function read(string $path, int $mebibytes): string
    {
        if (!is_file($path)) {
            throw new Wrong('must be a regular file');
        }
        $text = @file_get_contents($path, false, null, 0, ($mebibytes << 20) + 1);
        return match (true) {
            $text === false => throw new Wrong(preg_replace('/^.*: /s', '', error_get_last()['message'] ?? 'it cannot be read')),
            strlen($text) > $mebibytes << 20 => throw new Wrong("must be at most $mebibytes MiB"),
            default => $text,
        };
    }
}
