<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Text that clients or users wrote, made safe to show. */
final class Text
{
    /**
     * For a terminal: on one line, without control characters or bytes that are no UTF-8, so it cannot move the cursor or
     * change what was printed before. Each of them becomes an escape such as \x1b.
     */
    public static function printable(string $text, int $most_bytes = 200): string
    {
        if (strlen($text) > $most_bytes) {
            $text = (string) preg_replace('~[\x80-\xbf]*$~', '', substr($text, 0, $most_bytes)) . '...';
        }
        $escape = static fn (array $match): string => implode('', array_map(
            static fn (string $byte): string => sprintf('\x%02x', ord($byte)),
            str_split($match[0]),
        ));
        // C: control characters, also those of C1; invisible ones, such as those that turn the direction of text; and those of no script.
        return preg_replace_callback('~[\p{C}\p{Zl}\p{Zp}]~u', $escape, $text)
            ?? (string) preg_replace_callback('~[^\x20-\x7e]~', $escape, $text);
    }

    /** A message of several lines, each of them printable. */
    public static function lines(string $text): string
    {
        return implode("\n", array_map(static fn (string $line): string => self::printable($line, 1000), explode("\n", $text)));
    }

    /** An identifier, a client or a name, printable and whole: fromIdentifier() reads it back, whatever its bytes are. */
    public static function identifier(string $text): string
    {
        return self::printable(str_replace('\x', '\x5cx', $text), PHP_INT_MAX);
    }

    public static function fromIdentifier(string $text): string
    {
        return (string) preg_replace_callback('~\\\\x([\da-f]{2})~i', static fn (array $match): string => chr((int) hexdec($match[1])), $text);
    }

    /** For HTML, both text and quoted attributes; what is invisible is shown as by printable(). */
    public static function html(string $text, int $most_bytes = 200): string
    {
        return htmlspecialchars(self::printable($text, $most_bytes), ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
    }

    /**
     * Words in a sentence: "plain, nft or haproxy".
     *
     * @param array<string> $words
     */
    public static function listed(array $words, string $conjunction): string
    {
        $last = (string) array_pop($words);
        return $words === [] ? $last : implode(', ', $words) . " $conjunction $last";
    }

    /** A length of time in one or two units, such as "1 h 30 min". */
    public static function duration(float $seconds): string
    {
        if (is_infinite($seconds)) {
            return 'ever';
        }
        if ($seconds < 59.5) {
            return ($seconds < 1 ? (float) sprintf('%.2g', $seconds) : round($seconds, $seconds < 10 ? 1 : 0)) . ' s';
        }
        $rest = (int) round($seconds);
        $parts = [];
        foreach (['d' => 86_400, 'h' => 3_600, 'min' => 60, 's' => 1] as $unit => $length) {
            $parts[] = intdiv($rest, $length) > 0 ? intdiv($rest, $length) . " $unit" : '';
            $rest %= $length;
        }
        $first = (int) array_key_first(array_filter($parts));
        return rtrim($parts[$first] . ' ' . ($parts[$first + 1] ?? ''));
    }

    /** How long ago a time is, in seconds since 1970. */
    public static function age(float $since): string
    {
        return self::duration(max(0.0, microtime(true) - $since));
    }

    /**
     * An array whose keys are names or identifiers, for json(): an object also where these are 0, 1, 2. Keys that differ stay
     * different, whatever their bytes are.
     *
     * @param array<mixed> $entries
     * @param string       $inner   the key of another such array in each entry
     */
    public static function map(array $entries, string $inner = ''): \stdClass
    {
        $object = new \stdClass();
        foreach ($entries as $key => $value) {
            if (is_array($value[$inner] ?? null)) {
                $value[$inner] = self::map($value[$inner]);
            }
            $object->{self::identifier((string) $key)} = $value;
        }
        return $object;
    }

    /** For scripts; bytes that are no UTF-8 become U+FFFD. On a terminal, too, it has no control characters: JSON escapes all but one. */
    public static function json(mixed $value): string
    {
        return str_replace("\x7f", '\u007f', json_encode($value, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR)) . "\n";
    }
}
