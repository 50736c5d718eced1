<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/** First pass: reads lines and files the requests that count into partitions, by client. */
final class HitCollector
{
    private const MOST_BROKEN_SHOWN = 3;

    public int $lines = 0;
    public int $requests = 0;
    public int $broken = 0;
    public int $withoutClient = 0;
    /** @var list<string> some of the broken lines, safe to print */
    public array $brokenLines = [];
    /** The time of the first request, in milliseconds. */
    public int $first = PHP_INT_MAX;
    public int $last = 0;

    public function __construct(private RequestPattern $pattern, private Partitions $partitions, private UserAgents $agents)
    {
    }

    public function add(string $line, LogReading $log): void
    {
        $this->lines++;
        if ($line[0] !== '#' && !$this->pattern->mayMatch($line)) {
            return;
        }
        [$record, $kind] = $log->read($line);
        $request = $kind?->reader->request($record);
        if ($kind === null || $request === null) {
            if ($line[0] !== '#') {
                $this->addBroken($line);
            }
            return;
        }
        if (!$this->pattern->matches($request)) {
            return;
        }
        [$time, $client] = [$kind->reader->time($record), $kind->reader->client($record)];
        $kind->count($line, $record, $client, $time);
        if ($time === null) {
            $this->addBroken($line);
            return;
        }
        if ($client === null) {
            $this->withoutClient++;
            return;
        }
        $this->requests++;
        if ($time < $this->first) {
            $this->first = $time;
        }
        if ($time > $this->last) {
            $this->last = $time;
        }
        $this->partitions->add($client, $time, $this->agents->code($kind->reader->agent($record)));
    }

    private function addBroken(string $line): void
    {
        $this->broken++;
        if (count($this->brokenLines) < self::MOST_BROKEN_SHOWN) {
            $this->brokenLines[] = Text::printable($line, 120);
        }
    }
}
