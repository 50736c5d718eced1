<?php
/*
 * Limiters that accept too many calls, which the checker must find out. All count the hits of a window of an hour.
 */
use Illuminate\Cache\{FileStore, RateLimiter, Repository};
use Illuminate\Filesystem\Filesystem;
use Symfony\Component\Cache\Adapter\{ApcuAdapter, RedisAdapter};
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

const HITS = 50;

/** Rounds of a rival: `$make` returns a function that takes so many hits, and tells whether and how many are left, or '-'. */
function rival(Closure $make): Round
{
    return new Round(['fixed_window ' . HITS . ' 3600'], function () use ($make): Closure {
        $take = $make();
        return function () use ($take): array {
            $cost = mt_rand(1, 2);
            return ["attempt $cost 0", function () use ($take, $cost): string {
                [$is_accepted, $left] = $take($cost);
                return ($is_accepted ? 'yes' : 'no') . " $left -";
            }];
        };
    });
}

/** The recipe that reads a count, adds to it and writes it back. */
function get_and_set(Closure $get, Closure $set): Closure
{
    return function (int $cost) use ($get, $set): array {
        $used = $get();
        if ($used + $cost > HITS) {
            return [false, HITS - $used];
        }
        $set($used + $cost);
        return [true, HITS - $used - $cost];
    };
}

function get_and_set_files(string $folder, string $key): Round
{
    $file = "$folder/../count-$key";
    return rival(fn () => get_and_set(fn (): int => (int) @file_get_contents($file), function (int $used) use ($file): void {
        file_put_contents("$file." . getmypid(), (string) $used);
        rename("$file." . getmypid(), $file);
    }));
}

function get_and_set_redis(string $dsn, string $key): Round
{
    return rival(function () use ($dsn, $key): Closure {
        $redis = phpredis($dsn);
        return get_and_set(fn (): int => (int) $redis->get($key), fn (int $used) => $redis->set($key, $used, 3_600));
    });
}

function get_and_set_memcached(string $dsn, string $key): Round
{
    return rival(function () use ($dsn, $key): Closure {
        $memcached = new Memcached();
        $memcached->addServer(parse_url($dsn, PHP_URL_HOST), parse_url($dsn, PHP_URL_PORT));
        return get_and_set(fn (): int => (int) $memcached->get($key), fn (int $used) => $memcached->set($key, $used, 3_600));
    });
}

/** symfony/rate-limiter as its documentation has it, without a lock. */
function symfony_apcu(string $dsn, string $key): Round
{
    return symfony(fn () => new ApcuAdapter(), $key);
}

function symfony_redis(string $dsn, string $key): Round
{
    return symfony(fn () => new RedisAdapter(phpredis($dsn)), $key);
}

function symfony(Closure $cache, string $key): Round
{
    foreach (['RateLimiter', 'Cache', 'Lock'] as $component) {
        require_once "/usr/share/php/Symfony/Component/$component/autoload.php";
    }
    return rival(function () use ($cache, $key): Closure {
        $config = ['id' => 'history', 'policy' => 'fixed_window', 'limit' => HITS, 'interval' => '1 hour'];
        $limiter = (new RateLimiterFactory($config, new CacheStorage($cache())))->create($key);
        return function (int $cost) use ($limiter): array {
            $limit = $limiter->consume($cost);
            return [$limit->isAccepted(), $limit->getRemainingTokens()];
        };
    });
}

/** Laravel's limiter on a cache of files. */
function laravel_files(string $folder, string $key): Round
{
    require_once '/usr/share/php/Illuminate/Cache/autoload.php';
    // It reads what another process has half written, and says so.
    error_reporting(E_ALL & ~E_NOTICE);
    return rival(function () use ($folder, $key): Closure {
        $limiter = new RateLimiter(new Repository(new FileStore(new Filesystem(), "$folder/../laravel")));
        return function (int $cost) use ($limiter, $key): array {
            if ($limiter->attempts($key) + $cost > HITS) {
                return [false, max(0, $limiter->remaining($key, HITS))];
            }
            for ($left = $cost; $left > 0; $left--) {
                $limiter->hit($key, 3_600);
            }
            return [true, max(0, $limiter->remaining($key, HITS))];
        };
    });
}

function phpredis(string $dsn): Redis
{
    $redis = new Redis();
    $redis->connect(parse_url($dsn, PHP_URL_HOST), parse_url($dsn, PHP_URL_PORT));
    $redis->auth(rawurldecode((string) parse_url($dsn, PHP_URL_PASS)));
    return $redis;
}
