<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** Reads lines by a regular expression whose groups are the parts of a request. */
final class TextFormat implements LogFormat
{
    /** A number that no group has. */
    private const NONE = -1;

    /** @var array<string, int> */
    private array $numbers;
    /** The time that was read last: in most logs many lines in a row have the same one. */
    private string $lastTime = '';
    private ?int $lastMilliseconds = null;

    /**
     * @param array<string, int>                                    $groups the numbers of the groups, from 1: time, address, forwarded, request,
     *     or method and uri, user, agent
     * @param array{client: string, time: string, request: string} $places
     */
    public function __construct(private string $expression, array $groups, private bool $quotes_request, private array $places)
    {
        $this->numbers = $groups + array_fill_keys(['address', 'forwarded', 'request', 'method', 'uri', 'user', 'agent'], self::NONE);
    }

    public function parse(string $line): ?LogEntry
    {
        if (!preg_match($this->expression, $line, $match)) {
            return null;
        }
        $number = $this->numbers;
        $time = $match[$number['time']];
        if ($time !== $this->lastTime) {
            $this->lastTime = $time;
            $this->lastMilliseconds = LogTime::fromValue($time);
        }
        if ($this->lastMilliseconds === null) {
            return null;
        }
        $user = $match[$number['user']] ?? '';
        return new LogEntry(
            $this->lastMilliseconds,
            $match[$number['address']] ?? '',
            $match[$number['request']] ?? $match[$number['method']] . ' ' . $match[$number['uri']],
            $match[$number['agent']] ?? '',
            $user === '-' || $user === '' ? null : $user,
            $match[$number['forwarded']] ?? '',
        );
    }

    public function quotesRequest(string $line): bool
    {
        return $this->quotes_request;
    }

    public function places(): array
    {
        return $this->places;
    }

    /** The same format behind so many words that another program puts before each line. */
    public function behindWords(int $words): self
    {
        $expression = '~^(?:\s*+\S++){' . $words . '}\s*+' . substr($this->expression, strlen('~^'));
        return $words === 0 ? $this : new self($expression, $this->numbers, $this->quotes_request, $this->places);
    }
}
