<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/** Finds the format of lines of named fields: the names that are in common use and whose values are what they should be. */
final class FieldFinder
{
    /** In order of preference. */
    public const NAMES = [
        'time' => ['time', 'time_local', 'time_iso8601', '@timestamp', 'timestamp', 'timeStamp', 'ts', 'msec', 'StartUTC', 'start_time', 'EdgeStartTimestamp', 'requestTime'],
        'address' => ['remote_addr', 'client_ip', 'remote_ip', 'ip', 'clientip', 'ClientHost', 'ClientIP', 'remoteIp', 'clientIp', 'clientIP', 'downstream_remote_address'],
        'forwarded' => ['http_x_forwarded_for', 'x_forwarded_for', 'x-forwarded-for', 'xff', 'fwd'],
        'request' => ['request', 'request_line'],
        'method' => ['method', 'request_method', 'verb', 'RequestMethod', 'ClientRequestMethod', 'requestMethod', 'httpMethod'],
        'uri' => ['uri', 'request_uri', 'path', 'url', 'RequestPath', 'ClientRequestURI', 'requestUrl', 'requestUri', 'resourcePath'],
        'user' => ['remote_user', 'user', 'user_id'],
        'agent' => ['user_agent', 'http_user_agent', 'agent', 'request_User-Agent', 'ClientRequestUserAgent', 'userAgent'],
    ];

    /** @var list<array<string, mixed>> the fields of the first lines */
    private array $samples;

    /**
     * @param non-empty-list<string>                        $lines the first of a log
     * @param \Closure(string): (array<string, mixed>|null) $split gives the fields of a line
     */
    public function __construct(private array $lines, private \Closure $split, private ClientKey $key)
    {
        $this->samples = array_values(array_filter(array_map($split, $lines), 'is_array'));
    }

    /** @throws UnknownFormat that says what is missing */
    public function find(): FieldFormat
    {
        $addresses = $this->key->addresses;
        $is_address = static fn (mixed $value): bool => is_string($value) && $addresses->parse($value) !== null;
        $is_client = static fn (mixed $value): bool => is_string($value) && ($address = $addresses->parse($value)) !== null && !$addresses->isProxy($address);
        $names = [
            'time' => $this->names('time', static fn (mixed $value): bool => LogTime::isPlausible(LogTime::fromValue($value))),
            'address' => $this->names('address', $is_client) ?: $this->names('address', $is_address),
            'forwarded' => $this->names('forwarded', $is_address),
            'request' => $this->names('request', self::isLike('~^[A-Za-z]+ +\S~')),
            'method' => $this->names('method', self::isLike('~^[A-Za-z]+$~D')),
            // "request" may be a path that has its method beside it.
            'uri' => $this->names('uri', self::isLike('~^(?:/|\*|https?://)~')) ?: $this->names('request', self::isLike('~^/~')),
        ];
        $missing = match (true) {
            $this->samples === [] => 'a line is no JSON object',
            $names['time'] === [] => 'no time of day' . $this->values('time'),
            $this->key->isAddress() && $names['address'] === [] && $names['forwarded'] === [] => 'no address of a client' . $this->values('address', 'forwarded'),
            $names['request'] === [] && ($names['method'] === [] || $names['uri'] === []) => 'no request, or method and path' . $this->values('request', 'method', 'uri'),
            default => null,
        };
        if ($missing !== null) {
            throw new UnknownFormat($missing, $this->lines[0]);
        }
        if ($names['request'] !== []) {
            $names['method'] = $names['uri'] = [];
        }
        // A client without a name need not have these fields.
        return new FieldFormat($this->split, $names + self::NAMES);
    }

    /**
     * @param \Closure(mixed): bool $is_right
     *
     * @return list<string> the preferred name of those that are right in about as many lines as any; none if none is right
     */
    private function names(string $part, \Closure $is_right): array
    {
        $counts = [];
        foreach (self::NAMES[$part] as $name) {
            $values = array_filter($this->samples, static fn (array $fields): bool => isset($fields[$name]) && $is_right($fields[$name]));
            $counts[$name] = count($values);
        }
        $right = array_keys(array_filter($counts, static fn (int $count): bool => $count > 0 && 2 * $count >= max($counts)));
        return array_slice($right, 0, 1);
    }

    /** @return \Closure(mixed): bool */
    private static function isLike(string $expression): \Closure
    {
        return static fn (mixed $value): bool => is_string($value) && preg_match($expression, $value) === 1;
    }

    /** What the fields of these parts have instead. */
    private function values(string ...$parts): string
    {
        $texts = [];
        foreach ($parts as $part) {
            foreach (array_intersect_key($this->samples[0], array_flip(self::NAMES[$part])) as $name => $value) {
                $texts[] = "\"$name\" is " . Text::printable((string) json_encode($value, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES), 60);
            }
        }
        return $texts === [] ? '' : ' (' . implode(', ', $texts) . ')';
    }
}
