<?php

namespace TokenBucket;

/**
 * The result of one call. Only limiters make such objects. Ask isAccepted(): as a bool, also in a condition and compared with a bool,
 * an object of the extension is the same, but one of its stand-in in plain PHP is always true.
 *
 * The decision of a Compound is about all limits that were asked: it is accepted if none of them denies. It has the fewest
 * tokens of any, as getRetryAfter() the longest wait of those that deny, and as getResetAfter() the longest of all.
 * The decision of a FirstOf is that of the limit that was charged, or that would accept soonest.
 *
 * A call that costs more than the capacity is never accepted: never is INF in seconds, and null in whole seconds and in JSON.
 *
 * As JSON: accepted, limit, remaining_tokens, retry_after, reset_after, wait, degraded, would_deny, exempt.
 */
final class Decision implements \JsonSerializable
{
    /** Whether the call is accepted. Always true in a dry run (enforce=0). */
    public function isAccepted(): bool {}

    /** The bucket's capacity, or the window's limit. A Compound has that of the limit with the fewest remaining tokens. */
    public function getLimit(): int {}

    /**
     * The tokens or hits that the caller may use: those that were taken, and 0 if the call is denied or is a peek(). If the
     * call goes on although nothing was taken (enforce=0, on_error=open), it may use all that it asked for. A Compound has
     * the fewest of any limit.
     */
    public function getTokens(): int {}

    /** Whole tokens or hits left, 0 or more. */
    public function getRemainingTokens(): int {}

    /** getLimit() without getRemainingTokens(): how many of the tokens or hits are used up. */
    public function getUsedTokens(): int {}

    /** Seconds until the same call would be accepted: 0.0 if this one is. */
    public function getRetryAfter(): float {}

    /** getRetryAfter() rounded up to whole seconds: at least 1 if the call is denied, 0 if it is accepted. */
    public function getRetryAfterSeconds(): ?int {}

    /** Seconds until the bucket is full or the window ends, if no further call takes tokens. */
    public function getResetAfter(): float {}

    /** Seconds to wait before acting on a reserve(); 0.0 after any other call, and if the call is denied: ask isAccepted() first. */
    public function getWait(): float {}

    /**
     * Sleeps until what reserve() took may be used: getWait() seconds after the reservation.
     *
     *     if ($bucket->reserve(maxWait: 2)->wait()) { ... }
     *
     * Signals do not end the sleep; their handlers in PHP run after it. A clock that TestClock has frozen is advanced instead.
     *
     * @return bool whether the call is accepted. It returns at once if the call is denied or was not a reserve()
     */
    public function wait(): bool {}

    /**
     * Returns the decision if it is accepted.
     *
     *     $api->attempt()->ensureAccepted();
     *
     * @throws LimitExceededException if it is denied
     */
    public function ensureAccepted(): static {}

    /**
     * The names of the limits that deny the call; empty if it is accepted.
     *
     * The name of a limit is the `name:` of its constructor, or the part of its identifier before the first colon. A limit
     * without either, whose identifier may be a client's address, is "default".
     *
     * @return list<string>
     */
    public function getDeniedBy(): array {}

    /**
     * The names of the limits that the call has taken something from, as getDeniedBy() names them: one for a FirstOf, all for
     * a Compound. Empty for a denied call, a peek(), and a call that goes on although nothing was taken.
     *
     * @return list<string>
     */
    public function getChargedTo(): array {}

    /**
     * The fields of an HTTP response that tell a client about the limits (draft-ietf-httpapi-ratelimit-headers).
     *
     *     RateLimit-Policy: "login";q=5;w=300
     *     RateLimit: "login";r=0;t=60
     *     Retry-After: 60
     *
     * q is the limit, w the seconds in which it comes back, r the remaining tokens. t is, for a denied call, the seconds
     * until it would be accepted (absent for never), else the seconds until one more than r can be used, at least 1. Retry-After
     * is absent if the call is accepted or is never accepted. In names, bytes other than printable ASCII are percent-encoded.
     *
     * @return array<string, string> the values by the names of the fields
     */
    public function getHeaders(): array {}

    /**
     * The body of a response to a denied call, as a problem of RFC 9457 (`application/problem+json`), of one of three types of
     * draft-ietf-httpapi-ratelimit-headers: quota-exceeded (status 429); abnormal-usage-detected (429), a block; or
     * temporary-reduced-capacity (503): the rest is left for others, or the on-error policy denies the call.
     *
     * @return array{type: string, title: string, status: int, detail: string, violated-policies: list<string>} the
     *     policies are the names of the limits that deny the call, as in getHeaders()
     *
     * @throws \LogicException if the call was accepted
     */
    public function getProblem(): array {}

    /** Whether the store failed and the on-error policy decided instead. */
    public function isDegraded(): bool {}

    /**
     * Whether the client is exempt from the limit, by `except` or `clients` in token_bucket.limits: the call was accepted and charged
     * to nothing. With several limits: from all that were asked.
     */
    public function isExempt(): bool {}

    /** Whether the limit denies the call. In a dry run isAccepted() is true nevertheless. */
    public function wouldDeny(): bool {}

    /**
     * Replaces the estimate that the call took by what it cost, in the store where it was taken. Works once; a call that is
     * never settled stays charged its estimate. The decision then tells what is left.
     *
     *     $decision = $tokens->attempt($estimate);
     *     if ($decision->isAccepted()) {
     *         $reply = ask_the_model($prompt);
     *         $decision->settle($reply->tokens);
     *     }
     *
     * If it cost less, the rest is given back, except what has come back by itself since. A window that has ended gets nothing
     * back. A token bucket does not know that it was reset meanwhile: it gets the tokens back, never above its capacity.
     *
     * A call that estimated nothing, attempt(0), is charged all that it cost.
     *
     * If it cost more, the rest is charged even if it is not there, and later calls wait for it. A bucket goes at most one
     * capacity below empty, a SlidingWindow fills up; any further cost is forgotten. A FixedWindow or CalendarWindow that
     * has ended is not charged, nor is the next one.
     *
     * @param int|array $tokens 0 or more: one number for all limits of a Compound, or an array with one for each, in order or by name
     *
     * @return bool|null whether any limit charges the call what it cost. False needs nothing done: nothing was taken (a denied
     *     call, a peek(), on_error=open), all of the rest has come back by itself, the window has ended or was reset
     *     meanwhile, the identifier is blocked, the server failed a moment ago and was not asked, it is a further call, or
     *     a forked child calls: only the process that made the decision settles it. Null if that is not known: the server was
     *     asked, has not answered, and may have done it
     *
     * @throws \ValueError if a number is negative, or if the array does not have exactly one for each limiter
     * @throws \TypeError if the array has a value that is not an int
     * @throws \LogicException on a storage written in PHP
     * @throws StorageException if the storage fails and on_error is "throw"
     */
    public function settle(int|array $tokens): ?bool {}

    /**
     * Gives back what the call took: settle(0).
     *
     *     $decision = $bucket->attempt();
     *     if ($password_is_right) {
     *         $decision->refund();   // only failures count
     *     }
     *
     * @return bool|null whether any limit took it back, as settle() returns it
     *
     * @throws \LogicException on a storage written in PHP
     * @throws StorageException if the storage fails and on_error is "throw"
     */
    public function refund(): ?bool {}

    public function jsonSerialize(): array {}

    private function __construct() {}
}
