<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/** Reads the client, the time and the request of a line that was taken apart. */
final class Reader
{
    private const LONGEST = 40;

    /** The time that was read last: in most logs many lines in a row have the same one. */
    private string $lastTime = '';
    private ?int $lastMilliseconds = null;

    /**
     * @param list<string> $request one place, or those of the method and of the path
     * @param list<Place>  $clients the client's place, and perhaps others for lines that have none there; none if a client is no address
     * @param string|null  $field   the client's place if it is no address
     * @param list<Place>  $places  all, to compare their networks
     */
    public function __construct(
        private string $time,
        private array $request,
        private ?string $agent,
        public readonly array $clients,
        private ?string $field,
        public readonly array $places,
        private ClientKey $key,
    ) {
    }

    /** @param array<string, string> $record */
    public function request(array $record): ?string
    {
        $request = $record[$this->request[0]] ?? null;
        if ($request === null || !isset($this->request[1])) {
            return $request;
        }
        $path = $record[$this->request[1]] ?? null;
        return $path === null ? null : strtoupper(trim($request, '"')) . ' ' . ltrim($path, '"');
    }

    /**
     * @param array<string, string> $record
     *
     * @return int|null milliseconds since 1970; null if there is no time that can be right
     */
    public function time(array $record): ?int
    {
        $time = $record[$this->time] ?? '';
        if ($time !== $this->lastTime) {
            $this->lastTime = $time;
            $milliseconds = LogTime::fromWord($time);
            $this->lastMilliseconds = LogTime::isPlausible($milliseconds) ? $milliseconds : null;
        }
        return $this->lastMilliseconds;
    }

    /** @param array<string, string> $record */
    public function client(array $record): ?string
    {
        foreach ($this->clients as $place) {
            $network = $place->network($record, $this->key);
            if ($network !== null) {
                return $network;
            }
        }
        return $this->field === null ? null : ClientKey::named(trim($record[$this->field] ?? '', '"'));
    }

    /** @param array<string, string> $record */
    public function agent(array $record): string
    {
        return $this->agent === null ? '' : trim($record[$this->agent] ?? '', '"');
    }

    public function clientPlace(): string
    {
        return $this->clients === [] ? $this->key->by : implode(', else ', array_map(static fn (Place $place): string => $place->name(), $this->clients));
    }

    public function timePlace(): string
    {
        return $this->time;
    }

    /**
     * What a person sees, to check it: the places, with what the first line has there.
     *
     * @param list<array<string, string>> $records
     *
     * @return array{client: string, time: string, request: string, not_the_client: list<string>}|null null if no line has all of them
     */
    public function describe(array $records): ?array
    {
        $text = static fn (string $place, string $value): string => Text::printable($place, 2 * self::LONGEST) . ', ' . Text::printable($value, self::LONGEST);
        $chosen = array_map(static fn (Place $place): string => $place->name(), $this->clients);
        foreach ($records as $record) {
            [$request, $time, $client] = [$this->request($record), $this->time($record), $this->client($record)];
            if ($request !== null && $time !== null && $client !== null) {
                return [
                    'client' => $text($this->clientPlace(), $client),
                    'time' => $text($this->time, LogTime::toText($time)),
                    'request' => $this->request === [LineSplitter::REQUEST] ? Text::printable(trim($request, '"'), self::LONGEST) : $text(implode(' and ', $this->request), trim($request, '"')),
                    'not_the_client' => array_map(
                        static fn (Place $place): string => $text($place->name(), current($place->networks) ?: $place->sample) . ': ' . ($place->reason ?? 'another one was named'),
                        array_values(array_filter($this->places, fn (Place $place): bool => !$place->isRepeated && !in_array($place->name(), $chosen, true))),
                    ),
                ];
            }
        }
        return null;
    }
}
