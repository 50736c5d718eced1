<?php

namespace TokenBucket;

/**
 * Buckets in this host's shared memory: all processes of the same system user share them.
 *
 * Its methods serve code that calls a TokenBucketStorage itself. Cannot be extended, cloned or serialized.
 */
final class SharedMemoryStorage implements \TokenBucketStorage
{
    /**
     * @param string $dsn "shm:" or "shm:NAME", with ?prefix= for another prefix than token_bucket.prefix
     *
     * @throws ConfigurationException if the DSN has another scheme or an unknown parameter
     */
    public function __construct(#[\SensitiveParameter] string $dsn = "shm:") {}

    /**
     * Opens the table. Without it the first call does.
     *
     * @throws StorageException if the table cannot be opened
     */
    public function prepare(): void {}

    /**
     * Starts a bucket with a first level. Only the closure that was passed to consume() may call it.
     *
     * @param string $identifier names the bucket: 1 to 4,096 bytes
     * @param float  $microtime  when the bucket was empty, or would have been: seconds, as microtime(true)
     *
     * @throws \LogicException elsewhere, because only consume() knows the size of a full bucket
     */
    public function bootstrap($identifier, $microtime): void {}

    /**
     * Takes tokens if the bucket has them, in one atomic step.
     *
     * @param string        $identifier        names the bucket: 1 to 4,096 bytes
     * @param float         $microtime         the time in which the tokens refill, in seconds: 0 or more
     * @param float         $full_microtime    the time in which an empty bucket refills, in seconds: above 0, at most four years
     * @param callable|null $bootstrap_closure is called if the bucket is full, which a new one is, too; consume() then returns
     *                                         its result. Null: a new bucket is full
     *
     * @return bool whether the call is accepted
     *
     * @throws \ValueError if a time or the length of the identifier is out of range
     * @throws StorageException if the table cannot be opened
     */
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure): bool {}
}
