<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\UsageError;

/** The places of a log's first lines whose values are addresses. Those that agree are one; of those that disagree none is preferred. */
final class Places
{
    /** Two places are one if they have the same network in such a share of the lines that have both. */
    public const AGREE = 0.99;
    /** What fewer lines have was written by clients. */
    private const RARE = 0.1;
    private const MOST_ENTRIES = 5;
    private const MOST_FIELDS = 50;

    /** @var list<Place> */
    public array $all = [];
    /** @var list<Place> those that differ, with the reasons why some are not the client */
    public array $different = [];

    /** @param non-empty-list<array<string, string>> $records the first lines */
    public function __construct(private array $records, private ClientKey $key)
    {
        foreach ($this->lists() as $field => $lists) {
            $entries = array_merge(...$lists);
            $has_port = array_filter($entries, Address::hasPort(...)) !== [];
            $most = min(self::MOST_ENTRIES, max(array_map('count', $lists)));
            foreach ($key->proxies !== [] ? [Place::BEFORE_PROXIES] : ($most === 1 ? [Place::WHOLE] : range(1, $most)) as $entry) {
                $this->add(new Place((string) $field, $entry, $has_port), count($lists));
            }
        }
        foreach ($this->all as $place) {
            $this->join($place);
        }
        foreach ($this->different as $place) {
            $place->reason = $this->reason($place);
        }
    }

    /**
     * Where the client is: a place, and perhaps others for the lines that have no client there.
     *
     * @param list<string> $said by --client; those that this log has
     *
     * @return list<Place>
     *
     * @throws UsageError if several places may be it
     */
    public function client(array $said): array
    {
        $found = [];
        foreach ($said as $name) {
            [$name, $port] = preg_match('~^(.*), (with|without) a port$~D', $name, $match) === 1 ? [$match[1], $match[2] === 'with'] : [$name, null];
            foreach ($this->all as $place) {
                if ($place->name() === $name) {
                    $found[] = $port === null ? $place : new Place($place->field, $place->entry, $port);
                }
            }
        }
        if ($found !== []) {
            return $found;
        }
        if ($said !== []) {
            throw Question::noSuch('client', $said[0], array_map(static fn (Place $place): string => $place->name(), $this->all));
        }
        $left = array_values(array_filter($this->different, static fn (Place $place): bool => $place->reason === null));
        if (count($left) === 2) {
            // Some requests come through proxies, some do not: one place has an address in all lines, and only that of a proxy in some.
            usort($left, static fn (Place $one, Place $other): int => $other->lines <=> $one->lines);
            if ($left[0]->lines === count($this->records) && count($left[0]->networks) < $left[0]->lines && count($left[1]->networks) < $left[0]->lines) {
                return $left;
            }
        }
        if (count($left) !== 1) {
            throw $this->question($left ?: $this->different);
        }
        if ($this->mayHavePorts($left[0])) {
            $name = $left[0]->name();
            throw new UsageError("the addresses at $name may have a port behind them, or not: {$left[0]->sample}\nSay which: --client "
                . Question::quoted("$name, with a port") . ' or --client ' . Question::quoted("$name, without a port"));
        }
        return $left;
    }

    /** @return array<string, array<int, list<string>>> by field and line the entries of values that have an address */
    private function lists(): array
    {
        $lists = [];
        foreach ($this->records as $line => $record) {
            foreach ($record as $field => $value) {
                if (preg_match('~\d.*\.\d|[\da-fA-F]:|::~', $value) !== 1 || strlen($value) > 1000) {
                    continue;
                }
                $entries = Address::entries($value);
                if (array_filter($entries, fn (string $entry): bool => ($this->key->network($entry, false) ?? $this->key->network($entry, true)) !== null) !== []) {
                    $lists[$field][$line] = $entries;
                }
            }
        }
        // Clients can send any number of fields, but not in each line.
        $counts = array_map('count', $lists);
        arsort($counts);
        return array_intersect_key($lists, array_slice($counts, 0, self::MOST_FIELDS, true));
    }

    private function add(Place $place, int $lines): void
    {
        $place->lines = $lines;
        foreach ($this->records as $line => $record) {
            $network = $place->network($record, $this->key);
            if ($network !== null) {
                $place->networks[$line] = $network;
                $place->sample = $place->sample === '' ? $record[$place->field] : $place->sample;
            }
        }
        if ($place->networks !== [] || $place->entry === Place::BEFORE_PROXIES) {
            $this->all[] = $place;
        }
    }

    private function join(Place $place): void
    {
        foreach ($this->different as $number => $other) {
            $both = array_intersect_key($place->networks, $other->networks);
            if ($both !== [] && count(array_intersect_assoc($both, $other->networks)) >= self::AGREE * count($both)) {
                [$kept, $same] = count($place->networks) > count($other->networks) ? [$place, $other] : [$other, $place];
                $this->different[$number] = $kept;
                $same->isRepeated = true;
                return;
            }
        }
        $this->different[] = $place;
    }

    /** Why a place is not the client's. The others are all that differ from it, whether they are the client's or not. */
    private function reason(Place $place): ?string
    {
        $lines = count($this->records);
        $others = array_filter($this->different, static fn (Place $other): bool => $other !== $place);
        $public = array_filter($others, static fn (Place $other): bool => count($other->networks) === $lines && self::isPrivate($other) === false);
        $nearer = array_filter($others, static fn (Place $other): bool => $other->field === $place->field && $other->entry === $place->entry - 1 && count($other->networks) === $lines);
        return match (true) {
            $place->networks === [] => 'proxies of yours',
            count($place->networks) === $lines && $place->variety() === 1 && array_filter($others, static fn (Place $other): bool => $other->variety() > 1) !== [] => 'the same in all lines',
            self::isPrivate($place) === true && $public !== [] => 'private addresses',
            count($place->networks) < self::RARE * $lines && ($place->entry <= 1 || $nearer !== []) => 'in few lines',
            default => null,
        };
    }

    /** @return bool|null true if all are private, false if none is */
    private static function isPrivate(Place $place): ?bool
    {
        $kinds = array_unique(array_map(Address::isPrivate(...), array_unique($place->networks)));
        return count($kinds) === 1 ? current($kinds) : null;
    }

    /** Whether all of a place's addresses may as well be others with a port behind them, of other networks. */
    private function mayHavePorts(Place $place): bool
    {
        $differs = false;
        foreach ($place->hasPort || $place->entry !== Place::WHOLE ? [] : array_keys($place->networks) as $line) {
            $text = Address::bare($this->records[$line][$place->field]);
            $network = preg_match('~::.*:[1-9]\d{3}$~D', $text) === 1 ? $this->key->network($text, true) : null;
            if ($network === null) {
                return false;
            }
            $differs = $differs || $network !== $place->networks[$line];
        }
        return $differs;
    }

    /** @param non-empty-list<Place> $places */
    private function question(array $places): UsageError
    {
        return Question::which('client', array_map(fn (Place $place): array => [
            'name' => $place->name(),
            'share' => count($place->networks) / count($this->records),
            'values' => sprintf('%5d network%s', $place->variety(), $place->variety() === 1 ? ' ' : 's'),
            'sample' => current($place->networks) ?: '',
        ], $places), ".\nIf some of them are proxies of yours, name these: --proxies LIST");
    }
}
