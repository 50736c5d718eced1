<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/** First pass: reads lines and files the requests that count into partitions, by client. */
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
    private TextLine $textLine;
    private JsonLine $jsonLine;

    public function __construct(private RequestPattern $pattern, private ClientKey $key, private Partitions $partitions, private UserAgents $agents)
    {
        $this->textLine = new TextLine();
        $this->jsonLine = new JsonLine();
    }

    /** @param string $block whole lines */
    public function add(string $block): void
    {
        foreach (explode("\n", $block) as $line) {
            if ($line !== '') {
                $this->addLine($line);
            }
        }
    }

    /** @return array{lines: int, hits: int, broken: int, broken_lines: list<string>, without_client: int, first: ?int, last: ?int} */
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
        ];
    }

    private function addLine(string $line): void
    {
        $this->lines++;
        $is_json = $line[0] === '{';
        if ($this->lines > self::SAMPLE && !$this->pattern->mayMatch($line, $is_json)) {
            return;
        }
        $entry = $is_json ? $this->jsonLine->parse($line) : $this->textLine->parse($line);
        if ($entry === null) {
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
