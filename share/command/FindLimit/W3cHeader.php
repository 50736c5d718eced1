<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** The extended log format of the W3C, as IIS and CloudFront write it: "#Fields:" names what is in each line. */
final class W3cHeader
{
    private const PARTS = ['c-ip' => 'address', 'x-forwarded-for' => 'forwarded', 'cs-method' => 'method', 'cs-uri-stem' => 'uri', 'cs-username' => 'user', 'cs(user-agent)' => 'agent'];
    private const NEEDED = ['time' => 'date and time', 'address' => 'c-ip', 'method' => 'cs-method', 'uri' => 'cs-uri-stem'];

    /**
     * @param list<string> $lines the first of a log
     *
     * @return TextFormat|null null if none of them is such a header
     *
     * @throws UnknownFormat if it lacks a field
     */
    public static function find(array $lines): ?TextFormat
    {
        $header = current(preg_grep('~^#Fields:~', $lines) ?: []);
        if ($header === false) {
            return null;
        }
        preg_match_all('~\S+~', strtolower(substr($header, strlen('#Fields:'))), $names);
        // The date and the time, one behind the other, are one value.
        $names = explode(' ', str_replace('date time', 'date-time', implode(' ', $names[0])));
        $expression = '';
        $fields = [];
        foreach ($names as $name) {
            $part = $name === 'date-time' ? 'time' : self::PARTS[$name] ?? null;
            $value = $name === 'date-time' ? '\S++\s\S++' : '\S++';
            $expression .= ($expression === '' ? '~^' : '\s') . ($part === null ? $value : "($value)");
            $fields += $part === null ? [] : [$part => $name];
        }
        $missing = array_diff_key(self::NEEDED, $fields);
        if ($missing !== []) {
            throw new UnknownFormat('#Fields lacks ' . implode(', ', $missing), $header);
        }
        return new TextFormat("$expression~", array_combine(array_keys($fields), range(1, count($fields))), false, [
            'client' => $fields['address'] . (isset($fields['forwarded']) ? " and $fields[forwarded]" : ''),
            'time' => 'date and time',
            'request' => "$fields[method] and $fields[uri]",
        ]);
    }
}
