<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\client_terms;

/** What the file of limits says of one client of a limit. */
final class ClientTerms
{
    private function __construct(public readonly string $limit, public readonly bool $isExempt, private string $numbers, private string $place)
    {
    }

    /** Null: the client is limited as others are. */
    public static function of(string $limit, string $client): ?self
    {
        $terms = client_terms($limit, $client);
        if ($terms === null) {
            return null;
        }
        $numbers = (string) $terms['limit'] . ($terms['interval'] === null ? '' : ' in ' . Text::duration($terms['interval']));
        return new self($limit, $terms['exempt'], $numbers, Text::printable($terms['file'], 1000) . ", line $terms[line]");
    }

    /** With the limit in front. */
    public function line(): string
    {
        return "$this->limit: {$this->text()}";
    }

    public function text(): string
    {
        return ($this->isExempt ? 'exempt' : $this->numbers) . " by $this->place";
    }
}
