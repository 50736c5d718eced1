<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Splits lines into named fields. */
final class FieldLine
{
    /** Objects with fields of the request: Caddy's, Google Cloud's and AWS WAF's, Azure's. */
    private const OBJECTS = ['request', 'httpRequest', 'properties'];
    private const PAIR = '~(?<!\S)([\w.@-]+)=(?:"(' . LinePart::QUOTED . ')"|(\S*))~';

    /** @return array<string, mixed>|null the fields of a JSON object, also behind words of another program */
    public static function json(string $line): ?array
    {
        $fields = json_decode($line[0] === '{' ? $line : (string) strstr($line, '{'), true, 32, JSON_INVALID_UTF8_SUBSTITUTE | JSON_BIGINT_AS_STRING);
        if (!is_array($fields)) {
            return null;
        }
        foreach (self::OBJECTS as $name) {
            if (is_array($fields[$name] ?? null)) {
                $inner = $fields[$name];
                unset($fields[$name]);
                $agent = $inner['headers']['User-Agent'][0] ?? null;
                $fields += $inner + (is_string($agent) ? ['user_agent' => $agent] : []);
            }
        }
        return $fields;
    }

    /** Whether a line has a method in pairs such as method=GET path="/login". */
    public static function isPairs(string $line): bool
    {
        return preg_match('~(?<!\S)(?:\w*[mM]ethod|verb)="?[A-Za-z]+"? ~', $line) === 1;
    }

    /** @return array<string, mixed> the pairs of a line; "time" is what stands before them, if none is so named */
    public static function pairs(string $line): array
    {
        preg_match_all(self::PAIR, $line, $pairs, PREG_SET_ORDER);
        $fields = [];
        foreach ($pairs as $pair) {
            $fields[$pair[1]] ??= $pair[3] ?? $pair[2];
        }
        if (!isset($fields['time']) && preg_match('~' . LinePart::TIMES['iso'] . '~', $line, $match)) {
            $fields['time'] = $match[0];
        }
        return $fields;
    }
}
