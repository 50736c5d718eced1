<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/** Names the places of lines by --format: nginx's log_format or Apache's LogFormat. */
final class FormatString
{
    public const WHAT = 'the log_format of nginx or the LogFormat of Apache, or combined, common or json';
    private const NAMED = [
        'combined' => '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"',
        'common' => '%h %l %u %t "%r" %>s %b',
    ];
    /** A variable of nginx, or a directive of Apache. */
    private const FIELD = '~(\$\{\w+\}|\$\w+|%%|%[\d,!<>]*(?:\{[^}]*\})?(?:\^[a-z]{2}|[A-Za-z]))~';
    /** Fields that are one value together: an address and its port, a path and its query, the parts of a time. */
    private const JOINED = [
        '~(\$\{?remote_addr\}?|%(?:\{c\})?[ah]):(?:\$\{?remote_port\}?|%\{remote\}p)~' => '$1',
        '~(%[<>]?U)%[<>]?q|(\$\{?(?:document_)?uri\}?)\$\{?is_args\}?\$\{?args\}?~' => '$1$2',
        '~%[<>!\d,]*\{[^}]*\}t(?:[^%$]*%[<>!\d,]*\{[^}]*\}t)+~' => '%{several}t',
    ];
    private const IS_TIME = '~^\$\{?(?:time_local|time_iso8601|msec)\}?$|^%.*t$~';
    private const IS_ADDRESS = '~^\$\{?(?:remote_addr|realip_remote_addr)\}?$|^%[\d,!<>]*(?:\{c\})?[ah]$~';
    private const IS_REQUEST = '~^\$\{?(?:request|request_method)\}?$|^%[\d,!<>]*[rm]$~';
    private const IS_PATH = '~^\$\{?(?:(?:document_|request_)?uri)\}?$|^%[\d,!<>]*U$~';
    private const IS_USER = '~^\$\{?remote_user\}?$|^%[\d,!<>]*u$~';
    private const TIME = '(?:\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d(?:\.\d+)?+(?: [+-]\d{4})?+|\d{4}-\d\d-\d\d[T ][\d:.,]++(?: ?(?:Z|[+-]\d\d:?\d\d))?+|\d++(?:\.\d++)?+)';
    private const ADDRESS = '[\[\da-fA-F]*+[.:][\da-fA-F.:\]]*+';
    private const QUOTED = '[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+';
    /** May have blanks without quotes around them. */
    private const WITH_BLANKS = '~^\$\{?(?:request|remote_user|upstream|https?_|sent_http|cookie|ssl|geoip)|^%[\d,!<>]*[ru]$|\}[A-Za-z]$~';

    /** @param list<string> $names of the groups in the expression */
    private function __construct(private string $expression, private array $names, public readonly ?string $user)
    {
    }

    /** @throws UsageError if the format lacks a time, an address or a request */
    public static function compile(string $text, bool $needs_address): self
    {
        $format = self::NAMED[$text] ?? self::withoutDirective(trim($text));
        $format = (string) preg_replace(array_keys(self::JOINED), array_values(self::JOINED), $format);
        // What stands between the fields, and between these the fields.
        $pieces = preg_split(self::FIELD, $format, -1, PREG_SPLIT_DELIM_CAPTURE) ?: [''];
        if (count($pieces) === 1) {
            throw new UsageError('--format must be combined, common, json, or a log_format of nginx or LogFormat of Apache, such as \'$remote_addr [$time_local] "$request"\'; it is "'
                . Text::printable($text) . '"');
        }
        $names = [];
        // Another program may put some words before each line.
        $expression = '~^(?:\s*+\S++){0,10}?\s*+' . self::literal($pieces[0]);
        for ($number = 1; $number < count($pieces); $number += 2) {
            [$before, $field, $behind] = [$pieces[$number - 1], $pieces[$number], $pieces[$number + 1]];
            $is_last = $behind === '' && $number === count($pieces) - 2;
            $expression .= '(' . self::value($field, substr($before, -1), $is_last ? "\n" : substr($behind, 0, 1), $needs_address) . ')' . self::literal($behind);
            $names[] = $field;
        }
        $missing = array_keys(array_filter([
            'the time ($time_local, %t)' => preg_grep(self::IS_TIME, $names) === [],
            'the address ($remote_addr, %h)' => $needs_address && preg_grep(self::IS_ADDRESS, $names) === [] && preg_grep('~^\$|[ia]$~', $names) === [],
            'the request ($request, %r)' => preg_grep(self::IS_REQUEST, $names) === [],
        ]));
        if ($missing !== []) {
            throw new UsageError('--format lacks ' . implode(', ', $missing) . ': "' . Text::printable($text) . '"');
        }
        return new self("$expression~", $names, array_values(preg_grep(self::IS_USER, $names) ?: [])[0] ?? null);
    }

    /** @return array<string, string>|null null if the line is not in this format */
    public function places(string $line): ?array
    {
        return preg_match($this->expression, $line, $match) === 1 ? array_combine($this->names, array_slice($match, 1)) : null;
    }

    /** The format itself, if it was copied with its directive. */
    private static function withoutDirective(string $text): string
    {
        if (preg_match('~^log_format\s+\S+\s+(?:escape=\w+\s+)?(.*?);?$~s', $text, $match) || preg_match('~^([\'"].*[\'"]);?$~s', $text, $match)) {
            preg_match_all('~\'((?:[^\'\\\\]|\\\\.)*)\'|"((?:[^"\\\\]|\\\\.)*)"~s', $match[1], $pieces, PREG_SET_ORDER);
            $text = implode('', array_map(static fn (array $piece): string => $piece[2] ?? $piece[1], $pieces));
        } elseif (preg_match('~^(?:LogFormat|CustomLog\s+\S+)\s+"((?:[^"\\\\]|\\\\.)*)"~', $text, $match)) {
            $text = $match[1];
        }
        return strtr($text, ['\"' => '"', "\\'" => "'", '\t' => "\t", '\n' => '', '\\\\' => '\\']);
    }

    /** A regular expression of what stands in a line for a variable or directive, between these characters. */
    private static function value(string $field, string $before, string $behind, bool $needs_address): string
    {
        return match (true) {
            $field === '%%' => '%',
            $field === '%t' => '\[[^\]]*+\]',
            preg_match(self::IS_TIME, $field) === 1 => self::TIME,
            $needs_address && preg_match(self::IS_ADDRESS, $field) === 1 => self::ADDRESS,
            $before === '"' && $behind === '"' => self::QUOTED,
            // A host may stand right before it.
            preg_match(self::IS_PATH, $field) === 1 && $before === '' => '(?=/)\S*?',
            $behind !== '' && str_contains("\"]|\t;'", $behind) => '[^' . preg_quote($behind, '~') . ']*+',
            // A list with commas.
            preg_match('~forwarded~i', $field) === 1 => '(?:[^\s"]++(?<=,)\s++)*+[^\s"]++',
            preg_match(self::WITH_BLANKS, $field) === 1 => $behind === "\n" ? '.*' : '.*?',
            default => trim($behind) === '' && $behind !== '' ? '\S*+' : '\S*?',
        };
    }

    private static function literal(string $text): string
    {
        // A program may write more blanks than the format has.
        return (string) preg_replace('~(?:\\\\? )+~', ' ++', preg_quote($text, '~'));
    }
}
