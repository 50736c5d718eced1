<?php
/*
 * Limiters that need no server: shared memory, and the recipes for APCu.
 */

use Symfony\Component\Cache\Adapter\ApcuAdapter;
use Symfony\Component\Lock\Store\FlockStore;

/** @return Limiter[] */
function memory_limiters(): array
{
    return [
        token_bucket('shm', MEMORY, 'shm:', 'token_bucket, `shm:`'),
        token_bucket('array', MEMORY, 'array:', 'token_bucket, `array:` (one process)'),
        new Limiter('apcu_pair', 'APCu, `apcu_fetch` and `apcu_store`', MEMORY, apcu_pair(...)),
        new Limiter('apcu_window', 'APCu, `apcu_add` and `apcu_inc`', MEMORY, apcu_window(...)),
        symfony('symfony_apcu', 'APCu, no lock', MEMORY, fn () => [new ApcuAdapter('bench'), null]),
        symfony('symfony_apcu_lock', 'APCu, flock', MEMORY, fn () => [new ApcuAdapter('bench'), new FlockStore()]),
    ];
}

/** The usual first counter: read, compare, write. */
function apcu_pair(string $id, int $capacity, float $rate): Closure
{
    $window = window($capacity, $rate);
    $key = "pair:$id";
    return function (int $n) use ($key, $capacity, $window): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            $count = (int) apcu_fetch($key);
            if ($count < $capacity) {
                apcu_store($key, $count + 1, $window);
                $accepted++;
            }
        }
        return $accepted;
    };
}

/** An exact fixed window: added once, then incremented. */
function apcu_window(string $id, int $capacity, float $rate): Closure
{
    $window = window($capacity, $rate);
    $key = "window:$id";
    return function (int $n) use ($key, $capacity, $window): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            apcu_add($key, 0, $window);
            if (apcu_inc($key) <= $capacity) {
                $accepted++;
            }
        }
        return $accepted;
    };
}
