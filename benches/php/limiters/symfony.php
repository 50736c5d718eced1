<?php
/*
 * symfony/rate-limiter, its token bucket, on a cache of symfony/cache and with a lock of symfony/lock or without.
 */

use Symfony\Component\Cache\Adapter\AdapterInterface;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

foreach (['RateLimiter', 'Cache', 'Lock'] as $component) {
    require_once "/usr/share/php/Symfony/Component/$component/autoload.php";
}

function symfony_limiter(AdapterInterface $cache, ?PersistingStoreInterface $lock, string $id, int $capacity, float $rate): LimiterInterface
{
    $rate = $rate >= 1
        ? ['interval' => '1 second', 'amount' => (int) $rate]
        : ['interval' => round(1 / $rate) . ' seconds', 'amount' => 1];
    $config = ['id' => 'bench', 'policy' => 'token_bucket', 'limit' => $capacity, 'rate' => $rate];
    return (new RateLimiterFactory($config, new CacheStorage($cache), $lock ? new LockFactory($lock) : null))->create($id);
}

/** @param Closure $open connects; returns the cache and the lock's store */
function symfony(string $name, string $title, string $store, Closure $open): Limiter
{
    return new Limiter($name, "symfony/rate-limiter, $title", $store, function (string $id, int $capacity, float $rate) use ($open): Closure {
        $limiter = symfony_limiter(...[...$open(), $id, $capacity, $rate]);
        return function (int $n) use ($limiter): int {
            for ($i = $accepted = 0; $i < $n; $i++) {
                if ($limiter->consume()->isAccepted()) {
                    $accepted++;
                }
            }
            return $accepted;
        };
    });
}
