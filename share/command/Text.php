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
            $text = preg_replace('~[\x80-\xbf]*$~', '', substr($text, 0, $most_bytes)) . '...';
        }
        $escape = static fn (array $match): string => implode('', array_map(
            static fn (string $byte): string => sprintf('\x%02x', ord($byte)),
            str_split($match[0]),
        ));
        // Cc: control characters, also those of C1; Cf: invisible ones, such as those that turn the direction of text.
        return preg_replace_callback('~[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]~u', $escape, $text)
            ?? preg_replace_callback('~[^\x20-\x7e]~', $escape, $text);
    }

    /** For HTML, both text and quoted attributes; what is invisible is shown as by printable(). */
    public static function html(string $text, int $most_bytes = 200): string
    {
        return htmlspecialchars(self::printable($text, $most_bytes), ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
    }

    /** For scripts; a client's bytes that are no UTF-8 become U+FFFD. */
    public static function json(mixed $value): string
    {
        return json_encode($value, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR) . "\n";
    }
}
