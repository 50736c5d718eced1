<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Reads lines that are JSON objects, by the names that nginx formats, Apache formats, Caddy and Traefik commonly use. */
final class JsonLine
{
    private const TIME = ['time', 'time_local', 'time_iso8601', '@timestamp', 'timestamp', 'ts', 'msec', 'StartUTC'];
    private const ADDRESS = ['remote_addr', 'client_ip', 'remote_ip', 'ip', 'clientip', 'ClientHost'];
    private const REQUEST = ['request', 'request_line'];
    private const METHOD = ['method', 'request_method', 'verb', 'RequestMethod'];
    private const URI = ['uri', 'request_uri', 'path', 'url', 'RequestPath'];
    private const USER = ['remote_user', 'user', 'user_id'];
    private const AGENT = ['user_agent', 'http_user_agent', 'agent', 'request_User-Agent'];

    public function parse(string $line): ?LogEntry
    {
        $fields = json_decode($line, true, 32, JSON_INVALID_UTF8_SUBSTITUTE | JSON_BIGINT_AS_STRING);
        if (!is_array($fields)) {
            return null;
        }
        // Caddy writes an object "request", with its own fields and the headers.
        if (is_array($fields['request'] ?? null)) {
            $nested = $fields['request'];
            unset($fields['request']);
            $agent = $nested['headers']['User-Agent'][0] ?? null;
            $fields += $nested + (is_string($agent) ? ['user_agent' => $agent] : []);
        }
        $milliseconds = null;
        foreach (self::TIME as $name) {
            if (isset($fields[$name])) {
                $milliseconds = LogTime::fromValue($fields[$name]);
                break;
            }
        }
        $address = self::first($fields, self::ADDRESS);
        $request = self::first($fields, self::REQUEST);
        if ($request === null) {
            $method = self::first($fields, self::METHOD);
            $uri = self::first($fields, self::URI);
            $request = $method === null || $uri === null ? null : "$method $uri";
        }
        if ($milliseconds === null || $address === null || $request === null) {
            return null;
        }
        $user = self::first($fields, self::USER);
        return new LogEntry($milliseconds, $address, $request, self::first($fields, self::AGENT) ?? '', in_array($user, ['', '-'], true) ? null : $user, $fields);
    }

    /**
     * @param array<string, mixed> $fields
     * @param list<string>         $names
     */
    private static function first(array $fields, array $names): ?string
    {
        foreach ($names as $name) {
            if (is_string($fields[$name] ?? null) || is_int($fields[$name] ?? null)) {
                return (string) $fields[$name];
            }
        }
        return null;
    }
}
