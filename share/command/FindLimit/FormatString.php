<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/** Makes a regular expression of --format: nginx's log_format or Apache's LogFormat. */
final class FormatString
{
    private const NAMED = [
        'combined' => '%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"',
        'common' => '%h %l %u %t "%r" %>s %b',
    ];
    /** The parts of a request by nginx's variables. */
    private const NGINX = [
        'time_local' => 'time', 'time_iso8601' => 'time', 'msec' => 'time', 'remote_addr' => 'address', 'http_x_forwarded_for' => 'forwarded',
        'proxy_add_x_forwarded_for' => 'forwarded', 'proxy_protocol_addr' => 'forwarded', 'http_x_real_ip' => 'forwarded', 'http_cf_connecting_ip' => 'forwarded', 'http_true_client_ip' => 'forwarded',
        'request' => 'request', 'request_method' => 'method', 'request_uri' => 'uri', 'uri' => 'uri', 'document_uri' => 'uri', 'remote_user' => 'user', 'http_user_agent' => 'agent',
    ];
    /** The same by Apache's directives; a header's name in lower case. */
    private const APACHE = [
        't' => 'time', 'h' => 'address', 'a' => 'address', '{c}a' => 'address', '{x-forwarded-for}i' => 'forwarded', '{x-real-ip}i' => 'forwarded',
        '{cf-connecting-ip}i' => 'forwarded', '{true-client-ip}i' => 'forwarded', 'r' => 'request', 'm' => 'method', 'U' => 'uri', 'u' => 'user', '{user-agent}i' => 'agent',
    ];
    /** A variable of nginx, or a directive of Apache. */
    private const FIELD = '~(\$\{\w+\}|\$\w+|%%|%[\d,!<>]*(?:\{[^}]*\})?(?:\^[a-z]{2}|[A-Za-z]))~';
    /** Fields that are one value together. */
    private const JOINED = [
        // An address and its port.
        '~(\$\{?remote_addr\}?|%(?:\{c\})?[ah]):(?:\$\{?remote_port\}?|%\{remote\}p)~' => '$1',
        // A path and its query.
        '~(%[<>]?U)%[<>]?q|(\$\{?(?:document_)?uri\}?)\$\{?is_args\}?\$\{?args\}?~' => '$1$2',
        // A time: %{%d/%b/%Y:%T}t.%{msec_frac}t %{%z}t
        '~%[<>!\d,]*\{[^}]*\}t(?:[^%$]*%[<>!\d,]*\{[^}]*\}t)+~' => '%{several}t',
    ];
    private const TIME = '(?:' . LinePart::TIMES['common'] . '|' . LinePart::TIMES['iso'] . '|\d++(?:\.\d++)?+)';
    /** May have blanks without quotes around them: these parts, and these variables and directives of no part. */
    private const WITH_BLANKS = '~^(?:user|agent|request)$|^\$\{?(?:upstream|https?_|sent_http|cookie|ssl|geoip)|\}[A-Za-z]$~';

    /** @throws UsageError if the format lacks something */
    public static function compile(string $text, bool $needs_address): TextFormat
    {
        $format = self::NAMED[$text] ?? self::withoutDirective(trim($text));
        $format = (string) preg_replace(array_keys(self::JOINED), array_values(self::JOINED), $format);
        // What stands between the fields, and between these the fields.
        $pieces = preg_split(self::FIELD, $format, -1, PREG_SPLIT_DELIM_CAPTURE) ?: [''];
        if (count($pieces) === 1) {
            throw new UsageError('--format must be combined, common, json, or a log_format of nginx or LogFormat of Apache, such as \'$remote_addr [$time_local] "$request"\'; it is "'
                . Text::printable($text) . '"');
        }
        $expression = '~^' . self::literal($pieces[0]);
        $places = [];
        for ($number = 1; $number < count($pieces); $number += 2) {
            [$before, $field, $behind] = [$pieces[$number - 1], $pieces[$number], $pieces[$number + 1]];
            $part = self::part($field);
            $is_last = $behind === '' && $number === count($pieces) - 2;
            $value = $field === '%%' ? '%' : self::value($field, $part, substr($before, -1), $is_last ? "\n" : substr($behind, 0, 1));
            if ($part !== '' && !isset($places[$part])) {
                $places[$part] = $field;
                $value = "($value)";
            }
            $expression .= ($field === '%t' ? "\\[$value\\]" : $value) . self::literal($behind);
        }
        $missing = array_keys(array_filter([
            'the time ($time_local, %t)' => !isset($places['time']),
            'the address ($remote_addr, %h)' => $needs_address && !isset($places['address']) && !isset($places['forwarded']),
            'the request ($request, %r)' => !isset($places['request']) && !isset($places['method'], $places['uri']),
        ]));
        if ($missing !== []) {
            throw new UsageError('--format lacks ' . implode(', ', $missing) . ': "' . Text::printable($text) . '"');
        }
        $groups = array_combine(array_keys($places), range(1, count($places)));
        return new TextFormat("$expression~", $groups, isset($places['request']) && str_contains($format, "\"$places[request]"), [
            'client' => implode(' and ', array_filter([$places['address'] ?? '', $places['forwarded'] ?? ''])),
            'time' => $places['time'],
            'request' => $places['request'] ?? "$places[method] and $places[uri]",
        ]);
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

    /** @return string the part of a request that a variable or directive is; empty if it is none */
    private static function part(string $field): string
    {
        if ($field[0] === '$') {
            return self::NGINX[trim($field, '${}')] ?? '';
        }
        preg_match('~^%[\d,!<>]*(\{.*\})?(.*)$~', $field, $match);
        return $match[2] === 't' ? 'time' : self::APACHE[strtolower($match[1]) . $match[2]] ?? '';
    }

    /** A regular expression of what stands in a line for a variable or directive, between these characters. */
    private static function value(string $field, string $part, string $before, string $behind): string
    {
        return match (true) {
            $field === '%t' => '[^\]]*+',
            $part === 'time' => self::TIME,
            $before === '"' && $behind === '"' => LinePart::QUOTED,
            $part === 'forwarded' => LinePart::ADDRESSES,
            // A host may stand right before it.
            $part === 'uri' && $before === '' => '(?=/)\S*?',
            $behind !== '' && str_contains("\"]|\t;'", $behind) => '[^' . preg_quote($behind, '~') . ']*+',
            preg_match(self::WITH_BLANKS, $part ?: $field) === 1 => $behind === "\n" ? '.*' : '.*?',
            default => trim($behind) === '' && $behind !== '' ? '\S*+' : '\S*?',
        };
    }

    private static function literal(string $text): string
    {
        // A program may write more blanks than the format has.
        return (string) preg_replace('~(?:\\\\? )+~', ' ++', preg_quote($text, '~'));
    }
}
