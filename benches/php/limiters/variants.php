<?php
/*
 * Limiters that need another PHP than the others, or other sources: each is measured in a process of its own.
 */

final class Variant
{
    /**
     * @param Limiter $limiter what the report calls it
     * @param string $measured the name of the limiter that its process opens
     * @param string[] $options of its PHP, which come after those of the others
     * @param string[] $environment
     */
    public function __construct(public readonly Limiter $limiter, public readonly string $measured, public readonly array $options, public readonly array $environment = [])
    {
    }
}

const JIT = ['-d', 'opcache.jit=tracing', '-d', 'opcache.jit_buffer_size=64M'];

/** @return array<string, Variant> */
function variants(): array
{
    $all = [];
    foreach (['shm', 'symfony_apcu'] as $name) {
        $all[] = variant($name, 'jit', fn (string $title) => "$title, JIT", JIT);
    }
    $newest = ['BENCH_SYMFONY' => newest_symfony() . '/usr/share/php'];
    preg_match('/^\d+\.\d+/', newest_symfony_version('rate-limiter'), $version);
    foreach (['symfony_apcu', 'symfony_apcu_lock', 'symfony_redis_unix', 'symfony_redis_unix_lock'] as $name) {
        $all[] = variant($name, 'newest', fn (string $title) => str_replace('rate-limiter', "rate-limiter $version[0]", $title), [], $newest);
    }
    return array_column(array_map(fn (Variant $variant) => [$variant->limiter->name, $variant], $all), 1, 0);
}

function variant(string $name, string $kind, Closure $title, array $options, array $environment = []): Variant
{
    $base = limiters()[$name];
    return new Variant(new Limiter("{$name}_$kind", $title($base->title), $base->store, $base->open), $name, $options, $environment);
}
