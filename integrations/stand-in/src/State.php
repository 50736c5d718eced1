<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What a store remembers of one bucket or window: a letter, and its numbers. */
final class State
{
    /** A bucket that refills and owes nothing: when it is full again, and the parts of a nanosecond beyond that. */
    public const FILLING = 'f';
    /** A bucket that owes what was reserved or settled: when it is full again, the fraction in 2⁻²⁴, how far it may lie ahead. */
    public const RESERVED = 'r';
    /** A bucket overdrawn by `check`: when all is forgiven, and the debt. */
    public const OVERDRAWN = 'o';
    /** A bucket that was found emptier than its limit allows: when it was empty, and its reach. */
    public const EMPTIED = 'e';
    /** A fixed or calendar window: its last moment, and its hits. */
    public const WINDOW = 'w';
    /** A sliding window: when each hit leaves it, the earliest first. */
    public const HITS = 'h';
    /** A block: its end. */
    public const BLOCKED = 'b';

    /** A full bucket, or a window without hits: what is not stored. */
    public const FULL = [self::FILLING, 0, 0];

    /** The time from which the state may be forgotten. */
    public static function expiresAt(array $state): int
    {
        return match ($state[0]) {
            self::FILLING, self::RESERVED, self::WINDOW => $state[1] + ($state[2] > 0 ? 1 : 0),
            self::EMPTIED => $state[1] + Reach::span($state[2]),
            self::HITS => $state[count($state) - 1],
            default => $state[1],
        };
    }

    public static function encode(array $state): string { return implode(' ', $state); }

    public static function decode(string $text): array
    {
        $numbers = explode(' ', substr($text, 2));
        return [$text[0], ...array_map('intval', $numbers)];
    }
}
