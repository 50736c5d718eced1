<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A part of a store's states, which one process changes at a time. */
interface Shelf
{
    /** Names the shelf among all: in the order of the names a call opens them, so that no two calls wait for each other. */
    public function name(): string;

    /** Waits until no other process has the shelf open, and reads it. */
    public function open(): void;

    /** The state of a key, '' if there is none. */
    public function find(string $key): string;

    /** Changes the state of a key. It may be forgotten from `expiresAt` on. */
    public function put(string $key, string $state, int $expiresAt): void;

    /** Writes what was changed beside the shelf. */
    public function prepare(int $now): void;

    /** Puts what was written in its place. */
    public function publish(): void;
    public function close(): void;

    /** What shows, while it lives, that this process holds a permit; null if nothing has to. */
    public function hold(string $permit): mixed;

    /** Whether the process that took a permit still holds it, as far as can be told. */
    public function isHeld(string $permit): bool;

    /** Removes what has shown that a permit is held. */
    public function forget(string $permit): void;

    /** Removes what killed processes have left of their permits. */
    public function tidy(): void;
}
