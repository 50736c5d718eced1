<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** A client that goes on while it is blocked. */
final class BlockedClient implements \JsonSerializable
{
    /**
     * @param string $limit   that blocks it, for the longest time if several do
     * @param int    $seconds for which it is to be kept out
     * @param int    $denials while it was blocked, of the last ten minutes; 0 if an earlier run has listed it
     */
    public function __construct(
        public readonly Network $network,
        public readonly string $limit,
        public readonly int $seconds,
        public readonly int $denials,
    ) {
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        return ['client' => $this->network->text(), 'limit' => Text::identifier($this->limit), 'seconds' => $this->seconds, 'denials' => $this->denials];
    }
}
