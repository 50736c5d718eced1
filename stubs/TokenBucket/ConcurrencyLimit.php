<?php

namespace TokenBucket;

/**
 * A limit of how many run at the same time: who runs holds a permit.
 *
 *     $limit = new TokenBucket\ConcurrencyLimit(null, 'report', 3);   // three at once
 *     $permit = $limit->acquire();
 *     if ($permit === null) {
 *         http_response_code(503);
 *         exit;
 *     }
 *     // ... the work; the permit goes back when $permit is destroyed, or at the end of the request
 *
 * **Keep the permit in a variable**: `if ($limit->acquire() === null)` gives it back at once, and limits nothing.
 *
 * Works on shared memory, array: and Redis or Valkey. A permit ends after its lifetime at the latest, so a holder that is killed
 * does not block others for long: in shared memory its permits are free at once, on Redis after the lifetime.
 *
 * It is no Limiter: it counts what runs now, not what has run. Cannot be extended, cloned or serialized. Every method but the
 * constructor throws a StorageException if the storage fails and no on-error policy answers.
 */
final class ConcurrencyLimit
{
    /**
     * Makes an object for the permits of one identifier. The storage is opened by the first call on it, not here.
     *
     * @param \TokenBucketStorage|string|null $storage a storage object of this extension, a DSN, or null for
     *                           token_bucket.storage: shared memory, array: or Redis
     * @param string $identifier names the permits: 1 to 4,096 bytes of any kind
     * @param int    $limit      how many may be held at once: 1 to 1,024
     * @param float  $lifetime   how long a permit is held at most, in seconds, unless it is renewed: above 0, at most four
     *                           years. Choose it longer than the longest work
     * @param string|null $name  names the limit in statistics(). Null: the part of the identifier before the first colon
     *
     * @throws \ValueError if a number or the length of the identifier is out of range
     * @throws ConfigurationException if the storage holds no permits (memcached, MariaDB and MySQL, storages written in PHP),
     *     if a DSN has an unknown scheme or parameter, or token_bucket.storage is invalid
     */
    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $lifetime = 60.0,
        ?string $name = null
    ) {}

    /**
     * Takes a permit, if fewer than $limit are held. Does not wait.
     *
     * With $leave it takes one only if so many stay free, for more important calls: a call without $leave is never denied because
     * of it. In shared memory it may be denied a permit that is free, if other calls take permits at the same time.
     *
     * In a dry run (enforce=0), and by on_error=open while the storage fails, the caller always gets a permit, which may hold
     * nothing. By on_error=fallback it holds one of this host's own permits.
     *
     * @param int $leave so many must stay free: 0 or more. With as many as $limit it takes none
     *
     * @return Permit|null null: as many as $limit are held, less than $leave would stay free, or the table of permits has no room
     *
     * @throws \ValueError if $leave is below 0
     */
    #[\NoDiscard]
    public function acquire(int $leave = 0): ?Permit {}

    /**
     * Returns how many permits of the identifier are held now, whatever the limit of their holders.
     *
     * While the storage fails: by on_error=fallback those of this host, by `open` 0, by `closed` the limit.
     */
    public function getActive(): int {}

    /** Frees all permits of the identifier, also those that other processes hold. Their renew() returns false from then on. */
    public function reset(): void {}
}
