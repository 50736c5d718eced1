<?php

/**
 * A token bucket: holds $bucket_capacity tokens, starts full, refills continuously.
 *
 * Every call is one atomic step, under any number of processes. Calls on the same identifier in the same storage share a
 * bucket, whichever object and method makes them.
 *
 *     $bucket = new TokenBucket(null, $ip, 10, 1);   // ten tokens, one back each second
 *     if ($bucket->consume()) { ... }
 *
 * May be extended; consume() and key() may be overridden. Cannot be cloned or serialized.
 */
class TokenBucket implements TokenBucket\Limiter
{
    /* What to multiply a number of seconds with, or divide tokens by to get a rate. */
    public const MILLISECOND = 0.001;
    public const SECOND = 1;
    public const MINUTE = 60;
    public const HOUR = 3600;
    public const DAY = 86400;
    public const WEEK = 604800;

    /** Two times this near to each other, relative to the second, count as equal. */
    public const MICROTIME_DELTA = 0.0001;

    /**
     * Compares two times: 0 if they are equal within MICROTIME_DELTA, 1 if $m1 is the later, else -1.
     */
    public static function compare_microtimes(float $m1, float $m2): int {}

    /**
     * A bucket. Nothing is opened before the first call on it.
     *
     * @param TokenBucketStorage|string|null $storage a storage, a DSN, or null for token_bucket.storage. On a storage written
     *                                      in PHP only consume() and attempt() work; what it throws comes through
     * @param string     $identifier        whose bucket it is, as "login:$ip": 1 to 4,096 bytes of any kind. One identifier,
     *                                      one limit: two that take turns at it undo each other
     * @param int|null   $bucket_capacity   1 to 2,147,483,647 tokens
     * @param float|null $tokens_per_second above 0, at most 10^9; a full refill takes four years at most. Without capacity
     *                                      and rate only check() with a limit of its own can be called
     * @param string|null $name             the limit's name in TokenBucket\statistics(), and no part of the bucket's; what
     *                                      stands before the first colon of the identifier if null
     *
     * @throws ValueError for numbers or an identifier out of range
     * @throws TokenBucket\ConfigurationException for a DSN with an unknown scheme or parameter
     */
    public function __construct(
        #[\SensitiveParameter] TokenBucketStorage|string|null $storage,
        string $identifier,
        ?int $bucket_capacity = null,
        ?float $tokens_per_second = null,
        ?string $name = null
    ) {}

    /**
     * Takes tokens if they are there, else nothing.
     *
     * @param int $token_count 0 or more; 0 takes nothing and is accepted, more than the capacity is never accepted
     *
     * @return bool whether they were there
     *
     * @throws ValueError for a negative count
     * @throws LogicException for a bucket without capacity and rate
     * @throws TokenBucket\StorageException if the storage cannot be opened
     */
    public function consume(int $token_count = 1): bool {}

    /**
     * The registry's limiter: takes one token whether it is there or not; **true means limited**.
     *
     * A client that keeps calling stays limited; one that is silent for a whole window starts afresh with a full bucket.
     *
     *     $limiter = new TokenBucket(null, 'login');
     *     if ($limiter->check($ip, 10, 300)) { ... }   // limited: more than 10 in 300 seconds
     *
     * @param string|null $id     the client, 1 to 4,096 bytes: its bucket is that of key($id). Null: the object's own bucket
     * @param int|null    $limit  tokens, which come back evenly over the window. Null: the object's capacity and rate
     * @param int         $window seconds, 1 or more
     *
     * @throws ValueError for numbers or an id out of range
     * @throws LogicException without a limit, for a bucket without capacity and rate
     * @throws TokenBucket\StorageException if the storage cannot be opened
     */
    public function check(?string $id = null, ?int $limit = null, int $window = 300): bool {}

    /**
     * As consume(), and tells what is left and when to return.
     */
    public function attempt(int $token_count = 1): TokenBucket\Decision {}

    /**
     * What attempt() would say now. Changes nothing.
     */
    public function peek(int $token_count = 1): TokenBucket\Decision {}

    /**
     * Takes tokens, in advance if they are not there yet; getWait() tells how long to wait before acting.
     *
     * @param float|null $max_wait seconds, 0 or more: refuses to wait longer. Null: any time, up to four years
     *
     * @throws ValueError for a negative count or wait
     */
    public function reserve(int $token_count = 1, ?float $max_wait = null): TokenBucket\Decision {}

    /**
     * Gives tokens back, never above the capacity.
     */
    public function refund(int $token_count = 1): void {}

    /**
     * Makes the bucket full.
     */
    public function reset(): void {}

    /**
     * The identifier of a client's bucket, made from the object's identifier and $id: "login:192.0.2.1".
     *
     * A colon or percent sign in the object's identifier is escaped, so that no two pairs make the same one. Override it to
     * make identifiers in your own way.
     */
    protected function key(string $id): string {}
}
