<?php

namespace TokenBucket;

/**
 * Buckets in the memory of this process, for tests and programs that run alone. Each object has its own.
 *
 * Also usable by code written for the classic contract. Cannot be extended, cloned or serialized.
 */
final class ArrayStorage implements \TokenBucketStorage
{
    /**
     * @param string $dsn "array:", with ?prefix= for a prefix of its own
     *
     * @throws ConfigurationException for a DSN of another scheme, or with an unknown parameter
     */
    public function __construct(#[\SensitiveParameter] string $dsn = "array:") {}

    /**
     * Does nothing: it is always ready.
     */
    public function prepare(): void {}

    /**
     * Gives a bucket its first level. To be called by the closure that consume() was given.
     *
     * @throws \LogicException elsewhere: only consume() knows what a full bucket is
     */
    public function bootstrap($identifier, $microtime): void {}

    /**
     * Takes the worth of some tokens in seconds, in one atomic step.
     *
     * The closure is called for a bucket that is full or unknown, which is the same here; without one such a bucket is full.
     *
     * @throws \ValueError for times that are negative, not finite or above four years
     */
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure): bool {}
}
