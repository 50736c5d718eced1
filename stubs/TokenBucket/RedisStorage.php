<?php

namespace TokenBucket;

/**
 * Buckets in Redis or Valkey: every host that asks the same server sees them.
 *
 * Also usable by code written for the classic contract. Cannot be extended, cloned or serialized.
 */
final class RedisStorage implements \TokenBucketStorage
{
    /**
     * @param string $dsn redis:, rediss:, redis+unix:, redis+cluster: or redis+sentinel:; see docs/configuration.md for each form
     *
     * @throws ConfigurationException for a DSN of another scheme, or with an unknown parameter
     */
    public function __construct(#[\SensitiveParameter] string $dsn) {}

    /**
     * Connects and looks at a bucket, which otherwise the first call does.
     *
     * @throws StorageException if that fails; no on-error policy stands in
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
     * @throws StorageException if the store fails and on_error is "throw"
     */
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure): bool {}
}
