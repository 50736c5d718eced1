<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/** Compares what the first lines have shown with all lines of one kind in one log: text, or JSON, for two programs may write into one. */
final class Audit
{
    /** A line in so many may lack something. */
    private const MOST_WRONG = 0.01;
    /** Another place has so many times as many networks: the wrong one was chosen. */
    private const FAR_MORE = 4;

    private int $lines = 0;
    /** @var array{client: int, time: int} how many lines lack it */
    private array $missing = ['client' => 0, 'time' => 0];
    /** @var array{client: string, time: string} the first of these lines */
    private array $first = ['client' => '', 'time' => ''];
    private DistinctCount $chosen;
    /** @var array<int, DistinctCount> of places that were not chosen */
    private array $others = [];

    public function __construct(public readonly Reader $reader, private ClientKey $key)
    {
        $this->chosen = new DistinctCount();
        $chosen = array_map(static fn (Place $place): string => $place->name(), $reader->clients);
        foreach ($reader->places as $number => $place) {
            if (!in_array($place->name(), $chosen, true)) {
                $this->others[$number] = new DistinctCount();
            }
        }
    }

    /**
     * A line that matches.
     *
     * @param array<string, string> $record
     */
    public function count(string $line, array $record, ?string $client, ?int $time): void
    {
        $this->lines++;
        if ($this->others === [] && $client !== null && $time !== null) {
            return;
        }
        foreach (['client' => $client, 'time' => $time] as $what => $value) {
            if ($value === null && $this->missing[$what]++ === 0) {
                $this->first[$what] = Text::printable($line);
            }
        }
        if ($this->others === [] || $client === null) {
            return;
        }
        $this->chosen->add($client);
        foreach ($this->others as $number => $count) {
            $network = $this->reader->places[$number]->network($record, $this->key);
            if ($network !== null) {
                $count->add($network);
            }
        }
    }

    /** @throws UsageError if too many lines lack a client or a time, whoever has said where it is */
    public function check(): void
    {
        $wrong = [
            'time' => 'time (' . $this->reader->timePlace() . ') of the last ' . LogTime::YEARS . ' years',
            'client' => 'address of a client (' . $this->reader->clientPlace() . ')',
        ];
        foreach ($this->reader->clients === [] ? ['time' => $wrong['time']] : $wrong as $what => $text) {
            if ($this->missing[$what] > self::MOST_WRONG * $this->lines) {
                throw new UsageError(number_format($this->missing[$what]) . ' of ' . number_format($this->lines) . " lines that match have no $text. The first:\n    {$this->first[$what]}"
                    . "\nThe log can be read if --match leaves them out, --$what names another place, or --proxies names your proxies");
            }
        }
    }

    /** What a person has to look at, in place of a report. */
    public function doubt(): ?string
    {
        foreach ($this->others as $number => $count) {
            if ($count->estimate() >= self::FAR_MORE * max(1, $this->chosen->estimate())) {
                $place = $this->reader->places[$number];
                return "the first lines show the client at {$this->reader->clientPlace()}, which has about " . number_format($this->chosen->estimate()) . ' networks in all lines; '
                    . "{$place->name()} has about " . number_format($count->estimate()) . ".\nSay which: --client " . Question::quoted($place->name()) . ' or --client '
                    . Question::quoted($this->reader->clients[0]->name());
            }
        }
        return null;
    }
}
