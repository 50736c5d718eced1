<?php
/*
 * Laravel's own limiter, as its middleware asks it. It is compared by what it accepts, not by its time.
 */

use Illuminate\Cache\{FileStore, RateLimiter, RedisStore, Repository};
use Illuminate\Container\Container;
use Illuminate\Filesystem\Filesystem;
use Illuminate\Redis\RedisManager;

/** @return Limiter[] */
function laravel_limiters(): array
{
    foreach (['Cache', 'Redis'] as $component) {
        require_once "/usr/share/php/Illuminate/$component/autoload.php";
    }
    return [
        laravel('laravel_files', 'files', MEMORY, fn () => new FileStore(new Filesystem(), getenv('BENCH_TABLES') . '/laravel')),
        laravel('laravel_redis', 'Redis', 'Redis, TCP', function (): RedisStore {
            [$host, $port] = place($dsn = redis_dsn('tcp'));
            $password = rawurldecode((string) parse_url($dsn, PHP_URL_PASS)) ?: null;
            return new RedisStore(new RedisManager(new Container(), 'phpredis', ['default' => compact('host', 'port', 'password') + ['database' => 0]]));
        }),
    ];
}

/** @param Closure $connect makes the cache's store */
function laravel(string $name, string $title, string $store, Closure $connect): Limiter
{
    return new Limiter($name, "Laravel's own, cache on $title", $store, function (string $id, int $capacity, float $rate) use ($connect): Closure {
        $limiter = new RateLimiter(new Repository($connect()));
        $window = window($capacity, $rate);
        return function (int $n) use ($limiter, $id, $capacity, $window): int {
            for ($i = $accepted = 0; $i < $n; $i++) {
                try {
                    if (!$limiter->tooManyAttempts($id, $capacity)) {
                        $limiter->hit($id, $window);
                        $accepted++;
                    }
                } catch (ErrorException) {
                    // It read what another process had half written: the page fails.
                }
            }
            return $accepted;
        };
    });
}
