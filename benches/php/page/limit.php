<?php
/*
 * The limiters in front of the page, each as an application uses it: the worker keeps connections, each request makes
 * its own objects.
 */

use Symfony\Component\Cache\Adapter\ApcuAdapter;
use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\FlockStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

function is_admitted(string $limiter, string $ip): bool
{
    return match ($limiter) {
        'none' => true,
        'shm' => by_token_bucket('shm:', $ip),
        'redis_unix' => by_token_bucket(getenv('TB_REDIS_UNIX'), $ip),
        'redis_tcp' => by_token_bucket(getenv('TB_REDIS'), $ip),
        'memcached_unix' => by_token_bucket(getenv('TB_MEMCACHED_UNIX'), $ip),
        'mariadb' => by_token_bucket(getenv('TB_MARIADB_UNIX'), $ip),
        'apcu_window' => by_apcu($ip),
        'redis_unix_window' => by_incr($ip),
        'symfony_apcu' => by_symfony($ip, false, false),
        'symfony_apcu_lock' => by_symfony($ip, false, true),
        'symfony_redis_unix' => by_symfony($ip, true, false),
        'symfony_redis_unix_lock' => by_symfony($ip, true, true),
    };
}

function by_token_bucket(string $dsn, string $ip): bool
{
    return (new TokenBucket($dsn, "page:$ip", 1_000_000_000, 1_000_000))->attempt()->isAccepted();
}

function by_apcu(string $ip): bool
{
    apcu_add("page:$ip", 0, 1_000);
    return apcu_inc("page:$ip") <= 1_000_000_000;
}

function by_incr(string $ip): bool
{
    $redis = redis();
    $count = $redis->incr("page:$ip");
    if ($count === 1) {
        $redis->expire("page:$ip", 1_000);
    }
    return $count <= 1_000_000_000;
}

function by_symfony(string $ip, bool $on_redis, bool $locked): bool
{
    foreach (['RateLimiter', 'Cache', 'Lock'] as $component) {
        require_once "/usr/share/php/Symfony/Component/$component/autoload.php";
    }
    $redis = $on_redis ? redis() : null;
    $cache = $redis ? new RedisAdapter($redis, 'page') : new ApcuAdapter('page');
    $lock = $locked ? new LockFactory($redis ? new RedisStore($redis) : new FlockStore()) : null;
    $config = ['id' => 'page', 'policy' => 'token_bucket', 'limit' => 1_000_000_000, 'rate' => ['interval' => '1 second', 'amount' => 1_000_000]];
    return (new RateLimiterFactory($config, new CacheStorage($cache), $lock))->create($ip)->consume()->isAccepted();
}

/** phpredis' persistent connection, logged in once. */
function redis(): Redis
{
    preg_match('~^redis\+unix://:(.*)@([^?]+)~', getenv('TB_REDIS_UNIX'), $found);
    $redis = new Redis();
    $redis->pconnect($found[2]);
    if ($redis->getAuth() === null) {
        $redis->auth($found[1]);
    }
    return $redis;
}
