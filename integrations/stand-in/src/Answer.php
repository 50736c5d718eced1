<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What a limit answers to one call. */
final class Answer
{
    /** The `retryAt` of a call that can never be accepted. */
    public const NEVER = PHP_INT_MAX;
    public const NOTHING = [0, 0];

    /**
     * @param bool            $isBlocked whether a block denies the call, or was set by it
     * @param int             $retryAt   of a denied call, when it would be accepted; of an accepted one `now`, but of a sliding window
     *                                   with hits when the first of them leaves
     * @param int             $expiresAt when the bucket is full, all is forgiven, the window or the block has ended
     * @param array{int, int} $available what is left: of a bucket the span in which it came back, of a window its hits
     * @param int             $wait      how long the caller of a reservation has to wait, in nanoseconds
     */
    public function __construct(
        public bool $isAccepted,
        public int $now,
        public int $retryAt,
        public int $expiresAt,
        public array $available,
        public int $taken = 0,
        public int $wait = 0,
        public bool $isBlocked = false,
    ) {}

    /** The same answer of a call that is denied until this time. */
    public function denied(int $retryAt): self
    {
        $this->isAccepted = false;
        $this->retryAt = $retryAt;
        return $this;
    }

    /** The operation that charges a call this cost in place of what it took. */
    public function settle(int $cost): Op
    {
        return $cost < $this->taken
            ? new Op(Op::REFUND, $this->taken - $cost, expiry: $this->expiresAt)
            : new Op(Op::SETTLE, $cost - $this->taken, expiry: $this->expiresAt);
    }

    /** Seconds until the same call would be accepted: 0 if it is accepted, infinite if its cost is above the capacity. */
    public function retryAfter(): float
    {
        return match (true) {
            $this->isAccepted => 0.0,
            $this->retryAt === self::NEVER => INF,
            default => self::toSeconds($this->retryAt - $this->now),
        };
    }

    /** Seconds until the bucket is full, if no more is taken. */
    public function resetAfter(): float { return self::toSeconds($this->expiresAt - $this->now); }

    /** Nanoseconds as seconds, never rounded down: a caller that waits for them is not too early. */
    public static function toSeconds(int $ns): float
    {
        $seconds = $ns <= 0 ? 0.0 : $ns / Limit::SECOND;
        while ((int) Limit::nearest($seconds * Limit::SECOND) < $ns) {
            // The next float.
            $seconds = unpack('d', pack('q', unpack('q', pack('d', $seconds))[1] + 1))[1];
        }
        return (float) $seconds;
    }
}
