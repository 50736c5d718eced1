<?php
/*
 * What is compared: limiters of every kind, each in a file beside this one.
 */

/** A limiter on a store, the way an application would have it. */
final class Limiter
{
    /**
     * @param string $store where it keeps its state; compared with each other are those on one store
     * @param Closure $open of an identifier, a capacity and tokens a second; it gives a function that
     *     makes so many tries in a loop of its own and returns how many were let in. It connects.
     */
    public function __construct(
        public readonly string $name,
        public readonly string $title,
        public readonly string $store,
        public readonly Closure $open,
    ) {
    }

    public function is_ours(): bool
    {
        return str_starts_with($this->title, 'token_bucket');
    }
}

/** A limit that admits all that is measured. */
const CAPACITY = 1_000_000_000;
const RATE = 1_000_000;

/** The name of a store with no server. */
const MEMORY = 'this host';

/**
 * All of them; the first of each store is token_bucket's.
 *
 * @return array<string, Limiter>
 */
function limiters(): array
{
    $all = [];
    foreach ([...memory_limiters(), ...redis_limiters(), ...memcached_limiters(), ...mysql_limiters()] as $limiter) {
        $all[$limiter->name] = $limiter;
    }
    return $all;
}

/** @return array<string, Limiter> */
function server_limiters(): array
{
    return array_filter(limiters(), fn ($limiter) => $limiter->store !== MEMORY);
}

/** Seconds in which a limit comes back: the window of a recipe that counts in windows. */
function window(int $capacity, float $rate): int
{
    return (int) ceil($capacity / $rate);
}

/** Where a DSN leads: a host and a port, or a socket's path and 0. */
function place(string $dsn): array
{
    preg_match('~^\w+(\+unix)?://(?:.*@)?([^?]+)~', $dsn, $found);
    [$host, $port] = explode(':', $found[2]) + ['', 0];
    return [$host, (int) $port];
}

foreach (['token_bucket', 'symfony', 'memory', 'redis', 'memcached', 'mysql'] as $file) {
    require_once __DIR__ . "/$file.php";
}
