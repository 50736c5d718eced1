<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** States in the memory of this process. It is its one shelf. */
final class ArrayStore implements Store, Shelf
{
    private const SWEEP_AT = 1_024;

    /** @var array<string, array{string, int}> states, and when they expire */
    private array $states = [];
    private int $sweepAt = self::SWEEP_AT;
    private bool $isOpen = false;

    public function shelf(string $key): Shelf { return $this; }
    public function name(): string { return spl_object_hash($this); }
    public function open(): void { $this->isOpen = $this->isOpen ? throw new Doubt() : true; }
    public function close(): void { $this->isOpen = false; }
    public function find(string $key): string { return $this->states[$key][0] ?? ''; }
    public function put(string $key, string $state, int $expiresAt): void { $this->states[$key] = [$state, $expiresAt]; }

    public function prepare(int $now = 0): void
    {
        if (count($this->states) > $this->sweepAt) {
            $this->states = array_filter($this->states, static fn(array $state): bool => $state[1] > $now);
            $this->sweepAt = max(self::SWEEP_AT, 2 * count($this->states));
        }
    }

    public function publish(): void {}

    public function hold(string $permit): mixed { return null; }
    public function isHeld(string $permit): bool { return true; }

    public function forget(string $permit): void {}
    public function tidy(): void {}
}
