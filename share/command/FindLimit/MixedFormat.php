<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Reads a log that has both lines of text and JSON objects, for two programs write into it. */
final class MixedFormat implements LogFormat
{
    public function __construct(private LogFormat $text, private LogFormat $json, private bool $is_mostly_json)
    {
    }

    public function parse(string $line): ?LogEntry
    {
        return $this->formatOf($line)->parse($line);
    }

    public function quotesRequest(string $line): bool
    {
        return $this->formatOf($line)->quotesRequest($line);
    }

    public function places(): array
    {
        return ($this->is_mostly_json ? $this->json : $this->text)->places();
    }

    private function formatOf(string $line): LogFormat
    {
        return $line[0] === '{' ? $this->json : $this->text;
    }
}
