<?php

namespace TokenBucket;

/**
 * The answer to one call. Made by limiters, never by applications.
 *
 * As JSON: accepted, limit, remaining_tokens, retry_after (null for never), reset_after, wait, degraded,
 * would_deny.
 */
final class Decision implements \JsonSerializable
{
    /** Whether the call may go on; always, where the limit is only watched (enforce=0). */
    public function isAccepted(): bool {}

    /** The bucket's capacity. */
    public function getLimit(): int {}

    /** Whole tokens left, never below 0. */
    public function getRemainingTokens(): int {}

    /** Seconds until the same call would be accepted: 0.0 if this one is, INF if its cost can never be met. */
    public function getRetryAfter(): float {}

    /** Seconds until the bucket is full, if nobody takes more. */
    public function getResetAfter(): float {}

    /** Seconds to wait before acting on a reservation; 0.0 for any other call. */
    public function getWait(): float {}

    /** Whether the store failed and the answer is not its own. */
    public function isDegraded(): bool {}

    /** Whether the limit denies the call, be it enforced or only watched. */
    public function wouldDeny(): bool {}

    public function jsonSerialize(): array {}

    private function __construct() {}
}
