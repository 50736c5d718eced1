<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/**
 * Signs that a log was misread: times that no log has, clients that are no address, columns that change.
 *
 * @phpstan-type Tally array{all: int, wrong: int, first: string}
 */
final class Doubts
{
    /** One wrong line in ten is no exception. */
    private const MOST_WRONG = 0.1;
    private const NONE = ['all' => 0, 'wrong' => 0, 'first' => ''];

    /**
     * @param Tally                $times   the lines that have a time; the first of those with a wrong one
     * @param Tally                $clients the same of clients, in lines that match
     * @param array<string, true> $headers different "#Fields:", two at most
     */
    private function __construct(private array $times, private array $clients, private array $headers)
    {
    }

    public static function none(): self
    {
        return new self(self::NONE, self::NONE, []);
    }

    /** Whether the time can be right; counts it. */
    public function checkTime(int $milliseconds, string $line): bool
    {
        $this->times['all']++;
        if (LogTime::isPlausible($milliseconds)) {
            return true;
        }
        if ($this->times['wrong']++ === 0) {
            $this->times['first'] = LogTime::toText($milliseconds) . ":\n    " . Text::printable($line);
        }
        return false;
    }

    /** @param string|null $client null if the line names none */
    public function countClient(?string $client, string $line): void
    {
        $this->clients['all']++;
        if ($client === null && $this->clients['wrong']++ === 0) {
            $this->clients['first'] = ":\n    " . Text::printable($line);
        }
    }

    /** @param string $line "#Fields:" and the names of columns */
    public function noteHeader(string $line): void
    {
        $this->headers = array_slice($this->headers + [rtrim($line) => true], 0, 2);
    }

    /**
     * @param array{client: string, time: string, request: string} $places of the log's format
     *
     * @return string|null what is wrong, with the first such line; null if too little is
     */
    public function message(array $places, bool $clients_are_addresses): ?string
    {
        $lines = static fn (array $tally): string => number_format($tally['wrong']) . ' of ' . number_format($tally['all']) . ' lines have a ';
        if ($this->times['wrong'] > self::MOST_WRONG * $this->times['all']) {
            return $lines($this->times) . "time ($places[time]) outside the last " . LogTime::YEARS . " years. The first is {$this->times['first']}";
        }
        if ($clients_are_addresses && $this->clients['wrong'] > self::MOST_WRONG * $this->clients['all']) {
            return $lines($this->clients) . "client ($places[client]) that is no address. The first{$this->clients['first']}";
        }
        if (count($this->headers) > 1) {
            return "the columns change; make each part that begins with #Fields a log of its own. The lines with #Fields:\n    "
                . implode("\n    ", array_map(static fn (string $header): string => Text::printable($header), array_keys($this->headers)));
        }
        return null;
    }

    /** @return array{Tally, Tally, array<string, true>} for merged() in another process */
    public function export(): array
    {
        return [$this->times, $this->clients, $this->headers];
    }

    /**
     * @param list<array<int, array{Tally, Tally, array<string, true>}>> $exported by each process
     *
     * @return array<int, self> by the number of the log
     */
    public static function merged(array $exported): array
    {
        $all = [];
        foreach ($exported as $logs) {
            foreach ($logs as $log => [$times, $clients, $headers]) {
                $before = $all[$log] ?? self::none();
                $all[$log] = new self(self::sum($before->times, $times), self::sum($before->clients, $clients), $before->headers + $headers);
            }
        }
        return $all;
    }

    /**
     * @param Tally $one
     * @param Tally $other
     *
     * @return Tally
     */
    private static function sum(array $one, array $other): array
    {
        return [
            'all' => $one['all'] + $other['all'],
            'wrong' => $one['wrong'] + $other['wrong'],
            'first' => $one['first'] === '' ? $other['first'] : $one['first'],
        ];
    }
}
