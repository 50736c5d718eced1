<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** An operation on a bucket or a window. */
final class Op
{
    public const TAKE = 1;
    public const TAKE_UP_TO = 2;
    public const PEEK = 3;
    public const CHECK = 4;
    public const RESERVE = 5;
    public const REFUND = 6;
    public const SETTLE = 7;
    public const RESET = 8;
    public const BLOCK = 9;
    public const START = 10;

    /**
     * @param int      $cost   tokens or hits; of TAKE_UP_TO the most to take
     * @param int      $time   nanoseconds: the longest wait of RESERVE, the length of BLOCK, what is missing of START
     * @param int|null $expiry of REFUND and SETTLE: the `expiresAt` of the answer that took the tokens. Null: no such bound
     */
    public function __construct(
        public int $kind,
        public int $cost = 0,
        public int $least = 0,
        public int $leave = 0,
        public int $time = 0,
        public ?int $expiry = null,
    ) {}

    /** Takes this cost if `leave` is left afterwards. */
    public static function take(int $cost, int $leave = 0): self
    {
        return $leave === 0 ? new self(self::TAKE, $cost) : new self(self::TAKE_UP_TO, $cost, $cost, $leave);
    }

    /** The operation that is accepted only if `leave` is left afterwards. */
    public function leaving(int $leave): self
    {
        return match ($this->kind) {
            self::TAKE => self::take($this->cost, $leave),
            self::TAKE_UP_TO => new self(self::TAKE_UP_TO, $this->cost, $this->least, $leave),
            self::PEEK => new self(self::PEEK, Limit::sum($this->cost, $leave)),
            default => $this,
        };
    }

    /** The tokens or hits that the operation asks for. */
    public function asksFor(): int
    {
        return match ($this->kind) {
            self::TAKE, self::TAKE_UP_TO, self::PEEK, self::RESERVE => $this->cost,
            self::CHECK => 1,
            default => 0,
        };
    }

    /** The tokens or hits that must be there for the operation to be accepted. */
    public function needs(): int { return $this->kind === self::TAKE_UP_TO ? Limit::sum($this->least, $this->leave) : $this->asksFor(); }

    /** Answers as this operation does, and changes nothing. */
    public function peek(): self { return new self(self::PEEK, $this->needs()); }

    /**
     * Whether it settles what an earlier call took. It moves the state by its own cost, and brings no time from the future down: other
     * numbers may have made the state.
     */
    public function settles(): bool { return $this->kind === self::REFUND || $this->kind === self::SETTLE; }
}

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

/** What a store remembers of one bucket or window: a letter, and its numbers. */
final class State
{
    /** A bucket that refills and owes nothing: when it is full again, and the parts of a nanosecond beyond that. */
    public const FILLING = 'f';
    /** A bucket that owes what was reserved or settled: when it is full again, the fraction in 2⁻²², how far it may lie ahead. */
    public const RESERVED = 'r';
    /** A bucket overdrawn by `check`: when all is forgiven, and the debt. */
    public const OVERDRAWN = 'o';
    /** A bucket that was found emptier than its limit allows: when it was empty, and its reach. */
    public const EMPTIED = 'e';
    /** A fixed or calendar window: its last moment, and its hits. */
    public const WINDOW = 'w';
    /** A sliding window: when each hit leaves it, the earliest first. */
    public const HITS = 'h';
    /** A block: its end, how many seconds before that it was written at most, and the number of a calendar window after it. */
    public const BLOCKED = 'b';

    /** A full bucket, or a window without hits: what is not stored. */
    public const FULL = [self::FILLING, 0, 0];

    /** The time from which the state may be forgotten. */
    public static function expiresAt(array $state): int
    {
        return match ($state[0]) {
            self::FILLING, self::RESERVED, self::WINDOW => $state[1] + ($state[2] > 0 ? 1 : 0),
            self::EMPTIED => $state[1] + Reach::span($state[2]),
            self::HITS => $state[count($state) - 1],
            default => $state[1],
        };
    }

    public static function encode(array $state): string { return implode(' ', $state); }

    public static function decode(string $text): array
    {
        $numbers = explode(' ', substr($text, 2));
        return [$text[0], ...array_map('intval', $numbers)];
    }
}

/**
 * The block: denies every call on a bucket or a window until a time.
 *
 * It replaces the state of the algorithm. Calls meanwhile do not change it, and afterwards the limit starts afresh.
 */
final class Block
{
    /** Decides on a call that sets a block or meets one, under a limit of this capacity. Null if the algorithm decides. */
    public static function decide(array $state, int $now, Op $op, int $capacity): ?array
    {
        // An end further off than what was asked for was written before a clock went back.
        $isBlocked = $state[0] === State::BLOCKED && $state[1] > $now;
        $end = $isBlocked ? min($state[1], $now + min($state[2] * Limit::SECOND, Limit::MAX_REFILL)) : null;
        if ($op->kind === Op::BLOCK) {
            // The later of two blocks counts.
            $until = max($end ?? $now, $now + min($op->time, Limit::MAX_REFILL));
            $answer = self::denial($until, $now, $op, $capacity);
            $answer->isAccepted = true;
            $number = match ($state[0]) {
                State::WINDOW => CalendarWindow::numberAfter($state[1] + 1),
                State::BLOCKED => $state[3],
                default => 1,
            };
            return [$answer, [State::BLOCKED, $until, self::wholeSeconds($until - $now), $number]];
        }
        if ($end === null || $op->kind === Op::RESET) {
            return null;
        }
        // A time from the future is brought down.
        $after = $op->kind === Op::PEEK ? $state : [State::BLOCKED, $end, $state[2], $state[3]];
        return [self::denial($end, $now, $op, $capacity), $after];
    }

    /** A time in seconds, rounded up to what 13 bits and an exponent hold, as the extension keeps it. */
    private static function wholeSeconds(int $ns): int
    {
        $seconds = intdiv($ns + Limit::SECOND - 1, Limit::SECOND);
        for ($step = 1; ($seconds >> 13) >= $step; $step *= 2) {
        }
        return intdiv($seconds + $step - 1, $step) * $step;
    }

    /** A refund gives nothing back, so it is denied, too. */
    private static function denial(int $until, int $now, Op $op, int $capacity): Answer
    {
        $retryAt = $op->needs() > $capacity ? Answer::NEVER : $until;
        return new Answer(false, $now, $retryAt, $until, Answer::NOTHING, isBlocked: true);
    }
}
