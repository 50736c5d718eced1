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
            !isset($limits[$section->name]) || throw new Wrong("[$section->name] must not be there twice", $section->line);
            $limits[$section->name] = $section;
        }
        $likes = array_filter($limits, static fn(Section $section): bool => $section->like !== null);
        $others = array_diff_key($limits, $likes);
        foreach ($likes as $section) {
            $section->become($others[$section->like] ?? null);
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
