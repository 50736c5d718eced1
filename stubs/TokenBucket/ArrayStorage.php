<?php

namespace TokenBucket;

/**
 * Buckets in the memory of this process, for tests and programs that run alone. Each object has its own buckets.
 *
 * Its methods serve code that calls a TokenBucketStorage itself. Cannot be extended, cloned or serialized.
 */
final class ArrayStorage implements \TokenBucketStorage
{
    /**
     * @param string $dsn "array:", with ?prefix= for another prefix than token_bucket.prefix
     *
     * @throws ConfigurationException if the DSN has another scheme or an unknown parameter
     */
    public function __construct(#[\SensitiveParameter] string $dsn = "array:") {}

    /**
     * Does nothing: the storage is always ready.
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
     */
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure): bool {}
}
