<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** A place whose values are addresses, or an entry of a place whose values are lists of them. */
final class Place
{
    /** The place has no lists. */
    public const WHOLE = 0;
    /** The entry that stands before those of proxies, counted from the right. */
    public const BEFORE_PROXIES = -1;

    /** @var array<int, string> of the first lines, by their number */
    public array $networks = [];
    public string $sample = '';
    /** How many of the first lines have an address there, that of a proxy too. */
    public int $lines = 0;
    /** Whether another place has the same networks in the first lines. */
    public bool $isRepeated = false;
    /** Why it is not the client's, if it is not. */
    public ?string $reason = null;

    /** @param int $entry WHOLE, BEFORE_PROXIES, or which entry from the right, from 1 */
    public function __construct(public readonly string $field, public readonly int $entry, public readonly bool $hasPort)
    {
    }

    public function name(): string
    {
        return $this->field . match ($this->entry) {
            self::WHOLE => '',
            self::BEFORE_PROXIES => ', before proxies',
            1 => ', last entry',
            2 => ', last but one',
            3 => ', 3rd from the right',
            default => ", {$this->entry}th from the right",
        };
    }

    /**
     * @param array<string, string> $record
     *
     * @return string|null null if the line has no address there
     */
    public function network(array $record, ClientKey $key): ?string
    {
        $value = $record[$this->field] ?? '-';
        if ($value === '-') {
            return null;
        }
        if ($this->entry === self::WHOLE) {
            return $key->network($value, $this->hasPort) ?? $key->network(Address::bare($value), $this->hasPort);
        }
        $entries = Address::entries($value);
        if ($this->entry !== self::BEFORE_PROXIES) {
            return $key->network($entries[$this->entry - 1] ?? '', $this->hasPort);
        }
        foreach ($entries as $entry) {
            if (!$key->isProxy($entry, $this->hasPort)) {
                return $key->network($entry, $this->hasPort);
            }
        }
        return null;
    }

    /** How many of its networks there are in the first lines. */
    public function variety(): int
    {
        return count(array_unique($this->networks));
    }
}
