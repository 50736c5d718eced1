<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Text of a caller or an operator in a message. */
final class Text
{
    /** Makes a text fit for a message: short, and without what is not printable. */
    public static function cut(string $text): string
    {
        $characters = self::characters($text);
        $shown = implode('', array_map([self::class, 'escape'], array_slice($characters, 0, 64)));
        return count($characters) > 64 ? "$shown..." : $shown;
    }

    /** The same without what may be the rest of a password. */
    public static function quoteUnlessSecret(string $text): string { return str_contains($text, '@') ? '' : ' "' . self::cut($text) . '"'; }

    /** A name as printable ASCII, all that a field of HTTP may hold: other bytes are percent-encoded. */
    public static function percentEncode(string $text): string
    {
        return preg_replace_callback('/[^ -~]/', static fn(array $byte): string => sprintf('%%%02X', ord($byte[0])), $text);
    }

    public static function isAbsolute(string $path): bool { return preg_match('~^(/|[A-Za-z]:[/\\\\]|\\\\\\\\)~', $path) === 1; }

    /** A path in a message, however long it is: without control characters. */
    public static function path(string $path): string
    {
        return preg_replace_callback('/[\x00-\x1f\x7f]/', static fn(array $it): string => self::escape($it[0]), $path);
    }

    /** A text in a message as it was written, with escapes where it could break a line. */
    public static function debug(string $text): string
    {
        $isPlain = static fn(string $it): bool => preg_match('/^[^\p{C}"\'\\\\]$/u', $it) === 1;
        $escape = static fn(string $it): string => $isPlain($it) ? $it : ($it === "\0" ? '\0' : self::escape($it));
        return implode('', array_map($escape, self::characters($text)));
    }

    /** The text; without its bytes above ASCII if it is not UTF-8. */
    public static function utf8(string $text): string
    {
        return preg_match('//u', $text) ? $text : preg_replace('/[\x80-\xff]/', "\u{fffd}", $text);
    }

    private static function characters(string $text): array { return preg_split('//u', self::utf8($text), -1, PREG_SPLIT_NO_EMPTY); }

    private static function escape(string $character): string
    {
        return match (true) {
            $character === "\n" => '\n',
            $character === "\r" => '\r',
            $character === "\t" => '\t',
            in_array($character, ["'", '"', '\\'], true) => "\\$character",
            $character >= ' ' && $character <= '~' => $character,
            default => sprintf('\u{%x}', self::codePoint($character)),
        };
    }

    private static function codePoint(string $character): int
    {
        $bytes = array_values(unpack('C*', $character));
        $first = $bytes[0] & [1 => 0x7f, 2 => 0x1f, 3 => 0x0f, 4 => 0x07][count($bytes)];
        return array_reduce(array_slice($bytes, 1), static fn(int $point, int $byte): int => ($point << 6) | ($byte & 0x3f), $first);
    }
}
