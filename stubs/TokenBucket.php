<?php

/**
 * A token bucket: holds some tokens, starts full, refills continuously.
 *
 *     $bucket = TokenBucket::per(null, "search:$network", 30, 60);  // 30 at once, 30 back in 60 seconds
 *     if ($bucket->consume()) { ... }
 *
 * A decision is one atomic step, under any number of processes. All objects with the same identifier on the same storage
 * use one bucket. The constructor is the classic call: it takes the refill as tokens per second.
 *
 *     $bucket = new TokenBucket(null, "search:$network", 10, 1);    // ten tokens, one back each second
 *
 * May be extended; consume() and key() may be overridden. Cannot be cloned or serialized.
 *
 * Every method that reads or changes a bucket throws a TokenBucket\StorageException if the storage fails and no on-error
 * policy answers: shared memory that cannot be opened, or a server with token_bucket.on_error=throw. The other policies answer in a failed server's place: "fallback", the default, limits by
 * this host's shared memory; "open" accepts; "closed" denies. A storage has its own as a parameter: "redis://host?on_error=throw".
 */
class TokenBucket implements TokenBucket\Limiter
{
    /* Lengths of time in seconds: 10 / TokenBucket::MINUTE is a rate of ten tokens a minute. */
    public const MILLISECOND = 0.001;
    public const SECOND = 1;
    public const MINUTE = 60;
    public const HOUR = 3600;
    public const DAY = 86400;
    public const WEEK = 604800;

    /** compare_microtimes() takes two times for equal if they differ by less than this share of the second one. */
    public const MICROTIME_DELTA = 0.0001;

    /**
     * Compares two times.
     *
     * @param float $m1 a time in seconds
     * @param float $m2 a time in seconds
     *
     * @return int 0 if they are equal within MICROTIME_DELTA, 1 if $m1 is later, -1 if it is earlier
     */
    public static function compare_microtimes(float $m1, float $m2): int {}

    /**
     * Makes an object for one bucket. The storage is opened by the first call on it, not here.
     *
     * Use one limit for each identifier: a call with another limit changes the state that the first one left. Two that alternate
     * give a warning, and so does a rate that is probably a period: `new TokenBucket(null, $id, 5, 300)`.
     *
     * @param TokenBucketStorage|string|null $storage a storage object, a DSN, or null for token_bucket.storage. On a storage
     *                                      written in PHP only consume() and attempt() work, and its exceptions pass through
     * @param string     $identifier        names the bucket, for example "login:$network": 1 to 4,096 bytes of any kind
     * @param int|null   $bucket_capacity   tokens in a full bucket: 1 to 2,147,483,647
     * @param float|null $tokens_per_second the rate of the refill: above 0, at most 10^9, and a full refill takes at most four
     *                                      years. Without capacity and rate only check() with a $limit, reset() and block() work
     * @param string|null $name             names the limit in TokenBucket\statistics() and in decisions; it does not change which
     *                                      bucket is used. Null: the part of the identifier before the first colon
     *
     * @throws ValueError if a number or the length of the identifier is out of range
     * @throws TokenBucket\ConfigurationException if a DSN has an unknown scheme or parameter, or token_bucket.storage is invalid
     */
    public function __construct(
        #[\SensitiveParameter] TokenBucketStorage|string|null $storage,
        string $identifier,
        ?int $bucket_capacity = null,
        ?float $tokens_per_second = null,
        ?string $name = null
    ) {}

    /**
     * Makes an object for a bucket of $limit tokens that come back evenly over $interval seconds. A full bucket and what comes
     * back meanwhile are nearly twice $limit in one interval; a TokenBucket\SlidingWindow accepts at most $limit in any.
     *
     * On an extending class it makes an object of that class and does not call its constructor: typed properties without a
     * default stay uninitialized, as after DateTime::createFromFormat().
     *
     * @param TokenBucketStorage|string|null $storage a storage object, a DSN, or null for token_bucket.storage
     * @param string $identifier names the bucket, for example "login:$network": 1 to 4,096 bytes of any kind
     * @param int    $limit      tokens in a full bucket: 1 to 2,147,483,647
     * @param float  $interval   how long a full refill takes, in seconds: above 0, at least 1 nanosecond for each unit of $limit,
     *                           at most four years
     * @param string|null $name  names the limit in TokenBucket\statistics() and in decisions. Null: the part of the identifier
     *                           before the first colon
     *
     * @throws ValueError if a number or the length of the identifier is out of range
     * @throws TokenBucket\ConfigurationException if a DSN has an unknown scheme or parameter, or token_bucket.storage is invalid
     */
    public static function per(
        #[\SensitiveParameter] TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $interval,
        ?string $name = null
    ): static {}

    /**
     * Takes tokens if the bucket has them, else takes none. attempt() also tells how long to wait.
     *
     * @param int $token_count 0 or more. 0 takes nothing and is accepted; more than the capacity is never accepted
     *
     * @return bool whether the call is accepted
     *
     * @throws ValueError if the count is negative
     * @throws LogicException if the object has no capacity or no rate
     * @throws TokenBucket\StorageException if the storage fails
     */
    public function consume(int $token_count = 1): bool {}

    /**
     * Takes one token, even if the bucket is empty; **true means limited**. A client that keeps calling while it is limited stays
     * limited. A client that is silent for a whole window has a full bucket again.
     *
     *     $limiter = new TokenBucket(null, 'whois');
     *     if ($limiter->check($ip, 10, 300)) { ... }   // limited: more than 10 in 300 seconds
     *
     * @param string|null $id     names the client, 1 to 4,096 bytes; the call uses the bucket of key($id). Null: the object's own
     *                            bucket
     * @param int|null    $limit  tokens, 1 to 2,147,483,647, which refill evenly over the window. Null: the object's capacity and
     *                            rate
     * @param float       $window seconds: above 0, at least 1 nanosecond for each unit of $limit, at most four years. Has no effect
     *                            without $limit
     *
     * @return bool whether the client is limited
     *
     * @throws ValueError if a number or the length of the id is out of range
     * @throws LogicException if $limit is null and the object has no capacity or no rate, or on a storage written in PHP
     * @throws TokenBucket\StorageException if the storage fails
     */
    public function check(?string $id = null, ?int $limit = null, float $window = 300.0): bool {}

    /**
     * Takes tokens if the bucket has them, else takes none, and describes the result.
     *
     * @param int $tokens 0 or more. 0 takes nothing and is accepted; more than the capacity is never accepted: estimate less, and
     *                    settle() the rest
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more. With $tokens more than the
     *                    capacity: never accepted
     *
     * @throws ValueError if the count is negative
     * @throws LogicException if the object has no capacity or no rate
     * @throws TokenBucket\StorageException if the storage fails
     */
    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): TokenBucket\Decision {}

    /**
     * Takes as many of $most tokens as the bucket has, if these are at least $least; else takes none.
     *
     * The decision's getTokens() is the number of tokens that the caller may use.
     *
     * @param int $most  the most tokens to take: 0 or more. 0 takes nothing, whatever $least is by default
     * @param int $least the fewest tokens to take: 1 to $most. More than the capacity is never accepted
     * @param int $leave so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws ValueError if a number is out of range
     * @throws LogicException if the object has no capacity or no rate, or on a storage written in PHP
     * @throws TokenBucket\StorageException if the storage fails
     */
    public function takeUpTo(int $most, int $least = 1, int $leave = 0): TokenBucket\Decision {}

    /**
     * Returns what attempt() would return now. Changes nothing.
     *
     * @param int $tokens 0 or more
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws ValueError if the count is negative
     * @throws LogicException if the object has no capacity or no rate, or on a storage written in PHP
     * @throws TokenBucket\StorageException if the storage fails
     */
    public function peek(int $tokens = 1, int $leave = 0): TokenBucket\Decision {}

    /**
     * Takes tokens, in advance if the bucket does not have them yet. The decision's wait() sleeps until they may be used, and is
     * false at once if the call is denied, whose getWait() is 0.0.
     *
     * @param int        $tokens  0 or more; more than the capacity is never accepted
     * @param float|null $maxWait the longest wait in seconds, 0 or more: a call that would have to wait longer is denied and
     *                                takes nothing. Null: no bound
     *
     * @throws ValueError if the count or the wait is negative
     * @throws LogicException if the object has no capacity or no rate, or on a storage written in PHP
     * @throws TokenBucket\StorageException if the storage fails
     */
    #[\NoDiscard]
    public function reserve(int $tokens = 1, ?float $maxWait = null): TokenBucket\Decision {}

    /**
     * Puts tokens back, never above the capacity.
     *
     * @param int $tokens 0 or more
     *
     * @return bool whether that was done. False if the identifier is blocked, or if the store failed and on_error is "open" or "closed"
     *
     * @throws ValueError if the count is negative
     * @throws LogicException if the object has no capacity or no rate, or on a storage written in PHP
     * @throws TokenBucket\StorageException if the storage fails
     */
    public function refund(int $tokens = 1): bool {}

    /**
     * Makes the bucket full and lifts a block. Needs no capacity and no rate: `(new TokenBucket(null,
     * "login:$network"))->reset()`.
     *
     * @throws LogicException on a storage written in PHP
     * @throws TokenBucket\StorageException if the storage fails
     */
    public function reset(): void {}

    /**
     * Denies every call on the identifier for some time: also one of cost 0, also check().
     *
     * Denied calls meanwhile do not lengthen it, and a refund gives nothing back. If there are two blocks, the one that
     * ends later counts. Afterwards the bucket is full. Needs no capacity and no rate. reset() lifts the block, and in a shared-memory
     * table that other clients keep full it may shrink to the wait for one token. A block is seen by all that share the storage; where token_bucket.deny_cache is on, another host sees a reset() within a second.
     *
     * If the storage fails, on_error=fallback blocks in this host's own buckets, `open` and `closed` do nothing. On MariaDB
     * and MySQL a block needs the columns that MysqlStorage::prepare() adds. A FixedWindow on the same identifier is not
     * blocked: call block() on an object of the class that decides.
     *
     *     (new TokenBucket(null, "login:$network"))->block(900);
     *
     * @param float $seconds how long: above 0, at most four years
     *
     * @throws ValueError if the time is out of range
     * @throws LogicException on a storage written in PHP
     * @throws TokenBucket\StorageException if the storage fails
     */
    public function block(float $seconds): void {}

    /**
     * Makes the identifier of a client's bucket from the object's identifier and $id: "whois:192.0.2.1".
     *
     * A colon or percent sign in the object's identifier is escaped, so that no two pairs make the same identifier. Override
     * this method to make identifiers in another way: it must return 1 to 4,096 bytes.
     *
     * @param string $id the $id of check()
     */
    protected function key(string $id): string {}
}
