<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;

/** Finds which word of a log's lines is the client's address, and which one is a forwarded list beside it. */
final class AddressColumns
{
    /** @var array<int, array<int, string>> the addresses in each column, by the number of the line */
    private array $addresses = [];
    /** @var array<int, string> a word of each column as it stands in the log */
    private array $samples = [];

    /** @param non-empty-list<LineWords> $lines */
    public function __construct(private array $lines, private ClientAddress $reader)
    {
        foreach ($lines as $number => $line) {
            foreach ($line->columns() as $column => $word) {
                $address = $reader->parse(trim($word, '"'));
                if ($address !== null) {
                    $this->addresses[$column][$number] = $address;
                    $this->samples[$column] ??= $word;
                }
            }
        }
        $this->addresses = array_filter($this->addresses, static fn (array $addresses): bool => 2 * count($addresses) > count($lines));
        ksort($this->addresses);
    }

    /**
     * @param int|null $usual the column of the client in the common format
     *
     * @return array{address: int, forwarded?: int}
     *
     * @throws UnknownFormat that names the columns if several may be the client's
     */
    public function find(?int $usual, string $sample): array
    {
        $columns = array_keys($this->addresses);
        if ($columns === []) {
            throw new UnknownFormat('no word that is an address in most lines', $sample);
        }
        $before = $this->differentColumns(array_filter($columns, static fn (int $column): bool => $column < LineWords::BEHIND_REQUEST), $usual);
        $behind = $this->differentColumns(array_filter($columns, static fn (int $column): bool => $column > LineWords::BEHIND_REQUEST), null);
        if ($before === []) {
            return ['address' => $this->clientOf($behind, $sample)];
        }
        $client = $this->clientOf($before, $sample);
        if ($client !== $usual && in_array($usual, $before, true)) {
            // The connection came from a proxy.
            return ['address' => (int) $usual, 'forwarded' => $client];
        }
        $others = array_filter($behind, fn (int $column): bool => !$this->isSame($column, $client));
        foreach ($others as $column) {
            // What a client sent is quoted.
            $may_be_forwarded = $this->samples[$column][0] === '"' && !$this->isOfProxies($column);
            if ($may_be_forwarded && ($client === $usual || ($this->isOfProxies($client) && $this->countAddresses($column) >= $this->countAddresses($client)))) {
                return ['address' => $client, 'forwarded' => $column];
            }
        }
        $rivals = $client !== $usual ? $others : array_filter($others, fn (int $column): bool => $this->isOfProxies($client) && !$this->isOfProxies($column));
        if ($this->clientOf([$client, ...$rivals], $sample) !== $client) {
            throw $this->ambiguous([$client, ...$rivals], $sample);
        }
        return ['address' => $client];
    }

    /**
     * The first column that is not of proxies. Servers have far fewer addresses than clients have, and proxies have fewer.
     *
     * @param list<int> $columns at least one
     *
     * @throws UnknownFormat if another one has too many addresses for that
     */
    private function clientOf(array $columns, string $sample): int
    {
        $clients = array_values(array_filter($columns, fn (int $column): bool => !$this->isOfProxies($column))) ?: $columns;
        $count = $this->countAddresses($clients[0]);
        foreach (array_diff($columns, [$clients[0]]) as $column) {
            $most = in_array($column, $clients, true) ? intdiv($count, 2) : $count;
            if ($this->countAddresses($column) > $most) {
                throw $this->ambiguous($columns, $sample);
            }
        }
        return $clients[0];
    }

    /**
     * @param array<int> $columns
     *
     * @return list<int> the usual one first, and none that only repeats another one
     */
    private function differentColumns(array $columns, ?int $usual): array
    {
        $different = [];
        foreach (in_array($usual, $columns, true) ? [$usual, ...$columns] : $columns as $column) {
            if (array_filter($different, fn (int $other): bool => $this->isSame($column, $other)) === []) {
                $different[] = $column;
            }
        }
        return $different;
    }

    /** Whether two columns have the same address in most lines. */
    private function isSame(int $column, int $other): bool
    {
        return 2 * count(array_intersect_assoc($this->addresses[$column], $this->addresses[$other])) > count($this->addresses[$column]);
    }

    private function isOfProxies(int $column): bool
    {
        return array_filter($this->addresses[$column], fn (string $address): bool => !$this->reader->isProxy($address)) === [];
    }

    private function countAddresses(int $column): int
    {
        return count(array_unique($this->addresses[$column]));
    }

    /** @param list<int> $columns */
    private function ambiguous(array $columns, string $sample): UnknownFormat
    {
        $words = array_map(
            fn (int $column): string => LineWords::ordinal($this->lines[0]->position($column)) . ' (' . Text::printable($this->samples[$column], 40) . ')',
            $columns,
        );
        return new UnknownFormat('several words are addresses, and any may be the client: ' . implode(', ', $words), $sample);
    }
}
