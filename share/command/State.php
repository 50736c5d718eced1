<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** What is stored under an identifier of a limit in code. */
final class State implements \JsonSerializable
{
    /**
     * @param string   $identifier safe to print
     * @param int|null $hits       of a window that is not blocked
     * @param float    $seconds    until the block ends, or else nothing is left
     */
    public function __construct(
        private string $identifier,
        private string $algorithm,
        public readonly bool $isBlocked,
        private ?int $hits,
        public readonly float $seconds,
    ) {
    }

    public function text(): string
    {
        $time = Text::duration($this->seconds);
        return "$this->identifier, " . str_replace('_', ' ', $this->algorithm) . match (true) {
            $this->isBlocked => ": blocked for $time",
            $this->hits !== null => ": $this->hits calls count, the last for $time",
            default => ": full again in $time",
        };
    }

    /** @param list<self> $states */
    public static function isAnyBlocked(array $states): bool
    {
        return in_array(true, array_column($states, 'isBlocked'), true);
    }

    /** @param list<self> $states of limits that are easily taken for the one that a command is about */
    public static function warning(array $states): string
    {
        return implode('', array_map(static fn (self $state): string => "Another limit, in code: {$state->text()}. Name it by --identifier.\n", $states));
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        return [
            'identifier' => $this->identifier,
            'algorithm' => $this->algorithm,
            'blocked' => $this->isBlocked,
            'hits' => $this->hits,
            'seconds' => $this->seconds,
        ];
    }
}
