<?php
/*
 * symfony/rate-limiter, its token bucket, on a cache of symfony/cache and with a lock of symfony/lock or without.
 */

use Symfony\Component\Cache\Adapter\AdapterInterface;
use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\RateLimiter\LimiterInterface;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

// This machine's, or in a process of its own another version.
$sources = getenv('BENCH_SYMFONY') ?: '/usr/share/php';
foreach (['RateLimiter', 'Cache', 'Lock'] as $component) {
    require_once "$sources/Symfony/Component/$component/autoload.php";
}

/** A factory as a container makes it: once, and kept. */
function symfony_factory(AdapterInterface $cache, ?PersistingStoreInterface $lock, int $capacity, float $rate): RateLimiterFactory
{
    $rate = $rate >= 1
        ? ['interval' => '1 second', 'amount' => (int) $rate]
        : ['interval' => round(1 / $rate) . ' seconds', 'amount' => 1];
    $config = ['id' => 'bench', 'policy' => 'token_bucket', 'limit' => $capacity, 'rate' => $rate];
    return new RateLimiterFactory($config, new CacheStorage($cache), $lock ? new LockFactory($lock) : null);
}

function symfony_limiter(AdapterInterface $cache, ?PersistingStoreInterface $lock, string $id, int $capacity, float $rate): LimiterInterface
{
    return symfony_factory($cache, $lock, $capacity, $rate)->create($id);
}

/** The folder of Debian testing's Symfony. */
function newest_symfony(): string
{
    static $folder = null;
    return $folder ??= trim((string) shell_exec('scripts/setup/unpack.sh forky php-symfony-rate-limiter php-symfony-cache php-symfony-lock'));
}

/** The version of one of its packages. */
function newest_symfony_version(string $package): string
{
    preg_match("/^php-symfony-{$package}_(.*?)_/m", file_get_contents(newest_symfony() . '/packages'), $found);
    return $found[1];
}

/** A cache on Redis, with the serializer that Symfony documents as the compact one: its own choice in some versions only. */
function symfony_on_redis(Redis $redis): RedisAdapter
{
    return new RedisAdapter($redis, 'bench', 0, new DefaultMarshaller(true));
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
