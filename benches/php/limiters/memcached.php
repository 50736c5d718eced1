<?php
/*
 * Limiters on memcached: with compare-and-swap by php-memcached, with a key for a lock by
 * php-memcache, and symfony's.
 */

use Symfony\Component\Cache\Adapter\MemcachedAdapter;
use Symfony\Component\Lock\Store\MemcachedStore;

/** @return Limiter[] */
function memcached_limiters(): array
{
    $all = [];
    foreach (['unix' => 'memcached, unix socket', 'tcp' => 'memcached, TCP'] as $kind => $store) {
        $dsn = memcached_dsn($kind);
        $all = [
            ...$all,
            token_bucket("memcached_$kind", $store, patient($dsn)),
            new Limiter("memcached_{$kind}_cas", 'php-memcached, `get` and `cas`', $store, fn (...$limit) => get_cas(php_memcached($dsn), ...$limit)),
            new Limiter("memcached_{$kind}_lock", 'php-memcache, `add` as a lock', $store, fn (...$limit) => add_lock(php_memcache($dsn), ...$limit)),
            symfony("symfony_memcached_$kind", 'no lock', $store, fn () => [new MemcachedAdapter(php_memcached($dsn), 'bench'), null]),
            symfony("symfony_memcached_{$kind}_lock", 'its memcached lock', $store, fn () => [new MemcachedAdapter($client = php_memcached($dsn), 'bench'), new MemcachedStore($client)]),
        ];
    }
    return $all;
}

function memcached_dsn(string $kind): string
{
    return getenv($kind === 'unix' ? 'TB_MEMCACHED_UNIX' : 'TB_MEMCACHED');
}

function php_memcached(string $dsn): Memcached
{
    $memcached = new Memcached();
    $memcached->setOptions([
        Memcached::OPT_TCP_NODELAY => true,
        // The options of symfony's own connections.
        Memcached::OPT_BINARY_PROTOCOL => false,
        Memcached::OPT_SERIALIZER => Memcached::SERIALIZER_PHP,
    ]);
    $memcached->addServer(...place($dsn));
    return $memcached;
}

function php_memcache(string $dsn): Memcache
{
    $memcache = new Memcache();
    [$host, $port] = place($dsn);
    $memcache->connect($port === 0 ? "unix://$host" : $host, $port);
    return $memcache;
}

/** @return int[] what a memcached says of itself, by name; what is no number is 0 */
function memcached_stats(string $dsn, string $command): array
{
    [$host, $port] = place($dsn);
    $socket = stream_socket_client($port === 0 ? "unix://$host" : "tcp://$host:$port");
    fwrite($socket, "$command\r\n");
    $stats = [];
    while (preg_match('/^STAT (\S+) (.*)/', fgets($socket), $found)) {
        $stats[$found[1]] = (int) $found[2];
    }
    return $stats;
}

/** A token bucket that is read and written if it is unchanged, in a loop until that succeeds. */
function get_cas(Memcached $memcached, string $id, int $capacity, float $rate): Closure
{
    $window = window($capacity, $rate);
    $key = "cas:$id";
    return function (int $n) use ($memcached, $key, $capacity, $rate, $window): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            do {
                $now = microtime(true);
                $read = $memcached->get($key, null, Memcached::GET_EXTENDED);
                [$tokens, $at] = $read ? $read['value'] : [$capacity, $now];
                $tokens = min($capacity, $tokens + ($now - $at) * $rate);
                $accept = $tokens >= 1;
                $bucket = [$tokens - (int) $accept, $now];
                $written = $read ? $memcached->cas($read['cas'], $key, $bucket, $window) : $memcached->add($key, $bucket, $window);
            } while (!$written);
            $accepted += (int) $accept;
        }
        return $accepted;
    };
}

/**
 * The commands of the registry's limiter: an added key is the lock; after ten tries, 25 ms apart, it goes on without
 * the lock. It reads and sets the bucket and deletes the key.
 *
 * The published code had the lock's condition inverted, so that every call slept and none held the lock; here it is
 * corrected.
 */
function add_lock(Memcache $memcache, string $id, int $capacity, float $rate): Closure
{
    $window = window($capacity, $rate);
    return function (int $n) use ($memcache, $id, $capacity, $rate, $window): int {
        for ($i = $accepted = 0; $i < $n; $i++) {
            for ($tries = 0; !($locked = $memcache->add("lock:$id", 1, 0, 15)) && $tries < 10; $tries++) {
                usleep(25_000);
            }
            if (!$locked) {
                $accepted++;
                continue;
            }
            $now = microtime(true);
            $bucket = $memcache->get("bucket:$id");
            if (!is_array($bucket) || $bucket['at'] < $now - $window) {
                $bucket = ['tokens' => $capacity, 'at' => $now];
            }
            $tokens = min($capacity, $bucket['tokens'] + ($now - $bucket['at']) * $rate) - 1;
            $memcache->set("bucket:$id", ['tokens' => $tokens, 'at' => $now]);
            $memcache->delete("lock:$id");
            if ($tokens >= 0) {
                $accepted++;
            }
        }
        return $accepted;
    };
}
