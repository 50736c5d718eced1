<?php

namespace TokenBucket;

/**
 * The result of one call. Only limiters make such objects.
 *
 * As JSON: accepted, limit, remaining_tokens, retry_after (null for never), reset_after, wait, degraded, would_deny.
 */
final class Decision implements \JsonSerializable
{
    /** Whether the call is accepted. Always true in a dry run (enforce=0). */
    public function isAccepted(): bool {}

    /** The bucket's capacity, or the window's limit. */
    public function getLimit(): int {}

    /** Whole tokens or hits left, 0 or more. */
    public function getRemainingTokens(): int {}

    /** Seconds until the same call would be accepted: 0.0 if this one is, INF if it costs more than the capacity. */
    public function getRetryAfter(): float {}

    /** Seconds until the bucket is full or the window ends, if no further call takes tokens. */
    public function getResetAfter(): float {}

    /** Seconds to wait before acting on a reserve(); 0.0 after any other call. */
    public function getWait(): float {}

    /** Whether the store failed and the on-error policy decided instead. */
    public function isDegraded(): bool {}

    /** Whether the limit denies the call, also in a dry run. */
    public function wouldDeny(): bool {}

    public function jsonSerialize(): array {}

    private function __construct() {}
}
