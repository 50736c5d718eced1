<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Reads lines of named fields: JSON objects, or pairs. */
final class FieldFormat implements LogFormat
{
    /**
     * @param \Closure(string): (array<string, mixed>|null) $split gives the fields of a line
     * @param array<string, list<string>>                   $names of the fields for each part of a request, in order of preference: time,
     *     address, forwarded, request, or method and uri, user, agent
     */
    public function __construct(private \Closure $split, private array $names)
    {
    }

    public function parse(string $line): ?LogEntry
    {
        $fields = ($this->split)($line);
        if ($fields === null) {
            return null;
        }
        $time = $this->value($fields, 'time');
        $milliseconds = $time === null ? null : LogTime::fromValue($time);
        $uri = $this->value($fields, 'uri');
        $method = $this->value($fields, 'method');
        $request = $this->value($fields, 'request') ?? ($method === null || $uri === null ? null : strtoupper($method) . " $uri");
        if ($milliseconds === null || $request === null) {
            return null;
        }
        $user = $this->value($fields, 'user');
        return new LogEntry(
            $milliseconds,
            $this->value($fields, 'address') ?? '',
            $request,
            $this->value($fields, 'agent') ?? '',
            in_array($user, ['', '-'], true) ? null : $user,
            $this->value($fields, 'forwarded') ?? '',
            $fields,
        );
    }

    public function quotesRequest(string $line): bool
    {
        return false;
    }

    public function places(): array
    {
        $join = fn (string ...$parts): string => implode(' and ', array_merge(...array_map(fn (string $part): array => $this->names[$part], $parts)));
        return ['client' => $join('address', 'forwarded'), 'time' => $join('time'), 'request' => $join('request', 'method', 'uri')];
    }

    /** @param array<string, mixed> $fields */
    private function value(array $fields, string $part): ?string
    {
        foreach ($this->names[$part] as $name) {
            $value = $fields[$name] ?? null;
            if (is_string($value) || is_int($value) || is_float($value)) {
                return (string) $value;
            }
        }
        return null;
    }
}
