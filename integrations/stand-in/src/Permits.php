<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * The permits of one identifier that are held, by the ends of their lifetimes: how many may run at the same time.
 *
 * A permit has a lifetime, after which it is free even if it was not given back.
 */
final class Permits
{
    public const SUFFIX = '#c';

    /** @param array<string, int> $held when the lifetime of each ends, by its id */
    public function __construct(public array $held) {}

    /** Drops the permits whose lifetime has ended, or was set by a clock that went back. Returns their ids. */
    public function dropEnded(int $now): array
    {
        $isHeld = static fn(int $end): bool => $end > $now && $end <= $now + (2 * Limit::MAX_REFILL);
        [$before, $this->held] = [$this->held, array_filter($this->held, $isHeld)];
        return array_map('strval', array_keys(array_diff_key($before, $this->held)));
    }

    /** Takes a permit, if fewer than `max` are held. */
    public function acquire(string $id, int $max, int $end): bool
    {
        if (count($this->held) >= $max) {
            return false;
        }
        $this->held[$id] = $end;
        return true;
    }

    /** Lets the lifetime of a permit that is held begin anew. */
    public function renew(string $id, int $end): bool
    {
        $isHeld = isset($this->held[$id]);
        if ($isHeld) {
            $this->held[$id] = $end;
        }
        return $isHeld;
    }

    public static function decode(string $text): self
    {
        $held = [];
        foreach ($text === '' ? [] : explode(' ', $text) as $permit) {
            [$id, $end] = explode('=', $permit);
            $held[$id] = (int) $end;
        }
        return new self($held);
    }

    public function encode(): string
    {
        return implode(' ', array_map(fn(string|int $id, int $end): string => "$id=$end", array_keys($this->held), $this->held));
    }
}
