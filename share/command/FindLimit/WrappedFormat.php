<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Reads JSON objects that have a line of another format in a field, as Docker and journald write them. */
final class WrappedFormat implements LogFormat
{
    private const FIELDS = ['log', 'MESSAGE', 'message', 'msg', 'textPayload'];

    private function __construct(private string $field, private LogFormat $format)
    {
    }

    /**
     * @param non-empty-list<string>                       $lines JSON objects
     * @param \Closure(non-empty-list<string>): LogFormat $find  finds the format of the lines in a field
     *
     * @return self|null null if no field of most lines is text
     */
    public static function find(array $lines, \Closure $find): ?self
    {
        foreach (self::FIELDS as $field) {
            $inner = array_values(array_filter(array_map(static fn (string $line): ?string => self::lineIn($line, $field), $lines)));
            if ($inner !== [] && 2 * count($inner) > count($lines)) {
                return new self($field, $find($inner));
            }
        }
        return null;
    }

    public function parse(string $line): ?LogEntry
    {
        $inner = self::lineIn($line, $this->field);
        return $inner === null ? null : $this->format->parse($inner);
    }

    public function quotesRequest(string $line): bool
    {
        return false;
    }

    public function places(): array
    {
        return array_map(fn (string $place): string => "$place in $this->field", $this->format->places());
    }

    private static function lineIn(string $line, string $field): ?string
    {
        $inner = FieldLine::json($line)[$field] ?? null;
        return is_string($inner) && trim($inner) !== '' ? trim($inner) : null;
    }
}
