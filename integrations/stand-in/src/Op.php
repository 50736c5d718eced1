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
