<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/**
 * First pass: reads lines and files the requests that count into partitions, by client.
 *
 * @phpstan-import-type Tally from Doubts
 */
final class HitCollector
{
    /** So many lines are read in full, even if they cannot match: enough to notice a log of another format. */
    private const SAMPLE = 1000;

    private int $lines = 0;
    private int $hits = 0;
    private int $broken = 0;
    private int $withoutClient = 0;
    /** @var list<string> */
    private array $brokenLines = [];
    private ?int $first = null;
    private ?int $last = null;
    /** @var array<int, Doubts> of each log */
    private array $doubts = [];

    /** @param array<int, LogFormat> $formats by the number of the log */
    public function __construct(
        private array $formats,
        private RequestPattern $pattern,
        private ClientKey $key,
        private Partitions $partitions,
        private UserAgents $agents,
    ) {
    }

    /**
     * @param int    $log   its number
     * @param string $block whole lines
     */
    public function add(int $log, string $block): void
    {
        $this->doubts[$log] ??= Doubts::none();
        foreach (explode("\n", $block) as $line) {
            if ($line !== '') {
                $this->addLine($line, $this->formats[$log], $this->doubts[$log]);
            }
        }
    }

    /**
     * @return array{lines: int, hits: int, broken: int, broken_lines: list<string>, without_client: int, first: ?int, last: ?int,
     *     doubts: array<int, array{Tally, Tally, array<string, true>}>}
     */
    public function finish(): array
    {
        $this->partitions->flush();
        return [
            'lines' => $this->lines,
            'hits' => $this->hits,
            'broken' => $this->broken,
            'broken_lines' => $this->brokenLines,
            'without_client' => $this->withoutClient,
            'first' => $this->first,
            'last' => $this->last,
            'doubts' => array_map(static fn (Doubts $doubts): array => $doubts->export(), $this->doubts),
        ];
    }

    private function addLine(string $line, LogFormat $format, Doubts $doubts): void
    {
        $this->lines++;
        if ($line[0] === '#') {
            if (str_starts_with($line, '#Fields:')) {
                $doubts->noteHeader($line);
            }
            return;
        }
        if ($this->lines > self::SAMPLE && !$this->pattern->mayMatch($line, $format->quotesRequest($line))) {
            return;
        }
        $entry = $format->parse($line);
        if ($entry === null || !$doubts->checkTime($entry->milliseconds, $line)) {
            $this->broken++;
            if (count($this->brokenLines) < Reading::MOST_BROKEN_SHOWN) {
                $this->brokenLines[] = Text::printable($line, 120);
            }
            return;
        }
        if (!$this->pattern->matches($entry->request)) {
            return;
        }
        $client = $this->key->of($entry);
        $doubts->countClient($client, $line);
        if ($client === null) {
            $this->withoutClient++;
            return;
        }
        $this->hits++;
        $this->first = min($this->first ?? $entry->milliseconds, $entry->milliseconds);
        $this->last = max($this->last ?? $entry->milliseconds, $entry->milliseconds);
        $this->partitions->add($client, $entry->milliseconds, $this->agents->code($entry->userAgent));
    }
}
