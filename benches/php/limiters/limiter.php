<?php
/*
 * The limiters that are compared; each kind has a file beside this one.
 */

/** A limiter on a store, as an application uses it. */
final class Limiter
{
    /**
     * @param string $store where it keeps its state; limiters on one store are compared
     * @param Closure $open connects; takes an identifier, a capacity and tokens a second, and returns a function that
     *     makes a number of tries in a loop and returns how many were accepted
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

/** A limit that accepts every measured call. */
const CAPACITY = 1_000_000_000;
const RATE = 1_000_000;

/** The name of a store with no server. */
const MEMORY = 'this host';

/**
 * All limiters; the first of each store is token_bucket's.
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

/**
 * Those whose accepted calls are counted.
 *
 * @return array<string, Limiter>
 */
function counted_limiters(): array
{
    return limiters() + array_column(laravel_limiters(), null, 'name');
}

/** @return array<string, Limiter> */
function server_limiters(): array
{
    return array_filter(limiters(), fn ($limiter) => $limiter->store !== MEMORY);
}

/** @return array<string, int> the process of each store's server */
function server_pids(): array
{
    $redis = phpredis(redis_dsn('unix'))->info('server')['process_id'];
    $memcached = fn (string $kind) => memcached_stats(memcached_dsn($kind), 'stats')['pid'];
    return [
        'Redis, unix socket' => $redis,
        'Redis, TCP' => $redis,
        'memcached, unix socket' => $memcached('unix'),
        'memcached, TCP' => $memcached('tcp'),
        'MariaDB, unix socket' => sql_pid('mariadb'),
        'MySQL, unix socket' => sql_pid('mysql'),
    ];
}

/** Seconds in which a bucket refills: the window of the recipes that count in windows. */
function window(int $capacity, float $rate): int
{
    return (int) ceil($capacity / $rate);
}

/** The address in a DSN: a host and a port, or a socket's path and 0. */
function place(string $dsn): array
{
    preg_match('~^\w+(\+unix)?://(?:.*@)?([^?]+)~', $dsn, $found);
    [$host, $port] = explode(':', $found[2]) + ['', 0];
    return [$host, (int) $port];
}

foreach (['token_bucket', 'symfony', 'memory', 'redis', 'memcached', 'mysql', 'variants', 'laravel'] as $file) {
    require_once __DIR__ . "/$file.php";
}
