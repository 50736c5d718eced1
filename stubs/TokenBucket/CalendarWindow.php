<?php

namespace TokenBucket;

/**
 * So many hits in an hour, a day, a week, a month or a year, as a contract says "1,000 a month": all of them come back at the
 * calendar's next boundary in a time zone, not an interval after the first.
 *
 *     $quota = new TokenBucket\CalendarWindow(null, "quota:$customer", 1_000, 'month', 'Europe/Berlin');
 *     if ($quota->consume()) { ... }
 *
 * Weeks begin on Monday. The time zones are PHP's, so a day that daylight saving begins or ends has 23 or 25 hours.
 * date.timezone is not used. On servers their clock decides on which side of a boundary a call is. A client can use two
 * whole limits around a boundary, as in a FixedWindow.
 *
 * Cannot be extended, cloned or serialized. Every method but the constructor throws a StorageException if the storage fails
 * and no on-error policy answers.
 */
final class CalendarWindow implements Limiter
{
    /**
     * @param \TokenBucketStorage|string|null $storage    null for token_bucket.storage, a DSN, or one of this extension's storages
     * @param string                         $identifier names the window: 1 to 4,096 bytes of any kind
     * @param int                            $limit      the most hits in a window: 1 to 16,777,214
     * @param string                         $unit       hour, day, week, month or year
     * @param string                         $timezone   UTC, an offset such as +01:00, or a place that PHP knows, such as Europe/Berlin. No
     *                                                    abbreviation: PHP gives CET one offset in summer and winter
     * @param string|null                    $name       the limit's name in statistics() and getHeaders()
     *
     * @throws \ValueError if an argument is out of range, or the storage is written in PHP
     * @throws ConfigurationException if the DSN is not valid
     */
    public function __construct(#[\SensitiveParameter] \TokenBucketStorage|string|null $storage, string $identifier, int $limit, string $unit, string $timezone = 'UTC', ?string $name = null) {}

    /**
     * Counts hits if they fit into the window, else counts none.
     *
     * @param int $token_count hits, 0 or more
     *
     * @throws \ValueError if the count is negative
     */
    public function consume(int $token_count = 1): bool {}

    /**
     * Counts hits if they fit into the window, else counts none, and describes the result. In getHeaders() `w` is the length of
     * the window, and `t` is what is left of it.
     *
     * @param int $tokens hits, 0 or more
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws \ValueError if the count is negative
     */
    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Returns what attempt() would return now. Changes nothing.
     *
     * @param int $tokens hits, 0 or more
     * @param int $leave  so many must be left afterwards, for more important calls: 0 or more
     *
     * @throws \ValueError if the count is negative
     */
    public function peek(int $tokens = 1, int $leave = 0): Decision {}

    /**
     * Gives hits of the window back, never below none.
     *
     * @param int $tokens hits, 0 or more
     *
     * @return bool whether that was done. False if the identifier is blocked, or if the store failed and on_error is "open" or "closed"
     *
     * @throws \ValueError if the count is negative
     */
    public function refund(int $tokens = 1): bool {}

    /** Empties the window, and lifts a block. */
    public function reset(): void {}

    /**
     * Denies every call on the identifier for a time. The window is empty then.
     *
     * @param float $seconds how long: above 0, at most four years
     *
     * @throws \ValueError if the time is out of range
     */
    public function block(float $seconds): void {}
}
