<?php

namespace TokenBucket;

/**
 * A fixed window: up to $limit hits in an interval that begins with a client's first.
 *
 *     $window = new TokenBucket\FixedWindow(null, $ip, 5, 60);   // five in a minute
 *     if ($window->consume()) { ... }
 *
 * A hit at exactly the end of the interval still belongs to it; the next one opens a new window. It comes back all at
 * once, so up to twice the limit may pass within an interval that spans two windows: where that matters use a
 * TokenBucket. Windows and buckets on the same identifier are apart. Cannot be cloned or serialized.
 */
final class FixedWindow implements Limiter
{
    /**
     * A window. Nothing is opened before the first call on it.
     *
     * @param \TokenBucketStorage|string|null $storage a storage of this extension, a DSN, or null for token_bucket.storage
     * @param string $identifier whose window it is: 1 to 4,096 bytes of any kind
     * @param int    $limit      hits in a window: 1 to 16,777,214
     * @param float  $interval   how long it lasts, in seconds: above 0, at most four years
     * @param string|null $name  the limit's name in statistics(); what stands before the first colon of the identifier if null
     *
     * @throws \ValueError for numbers or an identifier out of range, or a storage written in PHP
     * @throws ConfigurationException for a DSN with an unknown scheme or parameter
     */
    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $interval,
        ?string $name = null
    ) {}

    /**
     * Counts hits if they fit into the window, else nothing.
     *
     * @param int $token_count 0 or more; 0 counts nothing and is accepted, more than the limit never fits
     */
    public function consume(int $token_count = 1): bool {}

    /** As consume(), and tells how many are left and when to return. */
    public function attempt(int $token_count = 1): Decision {}

    /** What attempt() would say; changes nothing. */
    public function peek(int $token_count = 1): Decision {}

    /** Takes hits back, never below none; the window lasts as long. */
    public function refund(int $token_count = 1): void {}

    /** Forgets the window: the next hit opens a new one. */
    public function reset(): void {}
}
