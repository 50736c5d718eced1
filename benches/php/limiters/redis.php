<?php
/*
 * Limiters on Redis: the recipes for phpredis, and symfony's.
 */

use Symfony\Component\Lock\Store\RedisStore;

/** The smallest script of a limiter: one time for each key, in microseconds (GCRA). */
const GCRA = <<<'LUA'
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    local full_at = tonumber(redis.call('GET', KEYS[1]) or now)
    if full_at < now then full_at = now end
    full_at = full_at + ARGV[1]
    if full_at - now > tonumber(ARGV[2]) then return 0 end
    redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', math.ceil((full_at - now) / 1000))
    return 1
    LUA;

/** @return Limiter[] */
function redis_limiters(): array
{
    $all = [];
    foreach (['unix' => 'Redis, unix socket', 'tcp' => 'Redis, TCP'] as $kind => $store) {
        $dsn = redis_dsn($kind);
        $on = fn (Closure $recipe) => fn (string $id, int $capacity, float $rate) => $recipe(phpredis($dsn), $id, $capacity, $rate);
        $all = [
            ...$all,
            token_bucket("redis_$kind", $store, patient($dsn)),
            new Limiter("redis_{$kind}_window", 'phpredis, `INCR` and `EXPIRE`', $store, $on(redis_window(...))),
            new Limiter("redis_{$kind}_pair", 'phpredis, `GET` and `SET` of a bucket', $store, $on(redis_pair(...))),
            new Limiter("redis_{$kind}_gcra", 'phpredis, `EVALSHA` of a minimal script (GCRA)', $store, $on(redis_gcra(...))),
            symfony("symfony_redis_$kind", 'no lock', $store, fn () => [symfony_on_redis(phpredis($dsn)), null]),
            symfony("symfony_redis_{$kind}_lock", 'its Redis lock', $store, fn () => [symfony_on_redis($redis = phpredis($dsn)), new RedisStore($redis)]),
        ];
    }
    return $all;
}

function redis_dsn(string $kind): string
{
    return getenv($kind === 'unix' ? 'TB_REDIS_UNIX' : 'TB_REDIS');
}

function phpredis(string $dsn): Redis
{
    $redis = new Redis();
    $redis->connect(...place($dsn));
    if (preg_match('~//:(.*)@~', $dsn, $found)) {
        $redis->auth($found[1]);
    }
    return $redis;
}

/** A fixed window: incremented, and its end set by the first call. */
function redis_window(Redis $redis, string $id, int $capacity, float $rate): Closure
{
    $window = window($capacity, $rate);
    $key = "window:$id";
    return function (int $n) use ($redis, $key, $capacity, $window): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            $count = $redis->incr($key);
            if ($count === 1) {
                $redis->expire($key, $window);
            }
            if ($count <= $capacity) {
                $accepted++;
            }
        }
        return $accepted;
    };
}

/** A token bucket that is read, computed and written back. */
function redis_pair(Redis $redis, string $id, int $capacity, float $rate): Closure
{
    $window = window($capacity, $rate);
    $key = "pair:$id";
    return function (int $n) use ($redis, $key, $capacity, $rate, $window): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            $now = microtime(true);
            $kept = $redis->get($key);
            [$tokens, $at] = $kept === false ? [$capacity, $now] : array_map('floatval', explode(' ', $kept));
            $tokens = min($capacity, $tokens + ($now - $at) * $rate);
            if ($tokens >= 1) {
                $accepted++;
                $tokens--;
            }
            $redis->setex($key, $window, "$tokens $now");
        }
        return $accepted;
    };
}

function redis_gcra(Redis $redis, string $id, int $capacity, float $rate): Closure
{
    $hash = $redis->script('load', GCRA);
    $arguments = ["gcra:$id", 1e6 / $rate, 1e6 * $capacity / $rate];
    return function (int $n) use ($redis, $hash, $arguments): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            if ($redis->evalSha($hash, $arguments, 1)) {
                $accepted++;
            }
        }
        return $accepted;
    };
}
