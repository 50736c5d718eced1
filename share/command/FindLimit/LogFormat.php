<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Reads the lines of one format. */
interface LogFormat
{
    /** @return LogEntry|null null if the line is not in this format */
    public function parse(string $line): ?LogEntry;

    /** Whether a request stands in quotes with its method, `"POST /login`, so that lines can be picked by it. */
    public function quotesRequest(string $line): bool;

    /** @return array{client: string, time: string, request: string} where a line has each: "third word" */
    public function places(): array;
}
