<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A window whose hits come back all at once, when it ends: a fixed or a calendar window. They differ in how they find that end. */
abstract class Window extends Limit
{
    /** The most hits of a window. */
    private const MAX_HITS = 16_777_214;
    /** How much two ends of one window may differ, in nanoseconds. */
    protected const SLACK = 0;
    /** Whether a window without hits has an end, too. */
    protected const ENDS_WITHOUT_HITS = false;

    protected int $maxHits;

    public function __construct(int $maxHits) { $this->maxHits = self::checkCount($maxHits, self::MAX_HITS, LimitError::HITS); }

    /** The end of a window that opens now. */
    abstract protected function endAt(int $now): int;

    /**
     * The end of the stored window, if it is open now. One from the future is brought down, unless the operation settles a call: other
     * numbers may have made the window.
     */
    abstract protected function findOpen(int $storedEnd, int $now, Op $op): ?int;

    public function capacity(): int { return $this->maxHits; }

    public function moreAfter(Answer $answer, int $leave): int
    {
        $isFull = !static::ENDS_WITHOUT_HITS && $this->remaining($answer) === $this->maxHits;
        return $isFull ? $this->window() : $answer->expiresAt - $answer->now;
    }

    public function apply(array $state, int $now, Op $op): array
    {
        $blocked = Block::decide($state, $now, $op, $this->maxHits);
        if ($blocked !== null) {
            return $blocked;
        }
        [$kind, $endsAt, $hits] = [...$state, 0];
        $isOpen = false;
        if ($kind === State::WINDOW) {
            $open = $this->findOpen($endsAt + 1, $now, $op);
            $isOpen = $open !== null;
        }
        $end = $open ?? $this->endAt($now);
        $hits = $isOpen ? $hits : 0;
        // The state of a call that changes nothing but an end from the future.
        $kept = $isOpen && $end !== $endsAt + 1 ? [State::WINDOW, $end - 1, $hits] : $state;

        $answer = function (int $hits) use ($isOpen, $end, $now): Answer {
            $hasEnd = $isOpen || $hits > 0 || static::ENDS_WITHOUT_HITS;
            // A call may be settled in a window that has ended by the stored time, but not by the call's own.
            return new Answer(true, $now, $now, $hasEnd ? max($end, $now) : $now, [max(0, $this->maxHits - $hits), 0]);
        };
        $withHits = function (int $hits) use ($answer, $end): array {
            $hits = max(0, min($hits, self::MAX_HITS));
            return [$answer($hits), [State::WINDOW, $end - 1, $hits]];
        };
        $left = max(0, $this->maxHits - $hits);
        $take = function (int $cost) use ($answer, $withHits, $hits, $left, $kept, $end): array {
            if ($cost === 0) {
                return [$answer($hits), $kept];
            }
            if ($cost > $left) {
                return [$answer($hits)->denied($cost > $this->maxHits ? Answer::NEVER : $end), $kept];
            }
            $taken = $withHits($hits + $cost);
            $taken[0]->taken = $cost;
            return $taken;
        };
        // A window that has ended is not charged for a call that is settled late: the next one is for the calls that begin in it.
        $isOther = $op->expiry !== null && !($isOpen && abs($op->expiry - $end) <= static::SLACK);
        switch ($op->kind) {
            case Op::TAKE:
            case Op::RESERVE:
                return $take($op->cost);
            case Op::CHECK:
                return $take(1);
            case Op::TAKE_UP_TO:
                return self::takeUpTo($op, $left, $take);
            case Op::PEEK:
                [$taken] = $take($op->cost);
                return [$taken->isAccepted ? $answer($hits) : $answer($hits)->denied($taken->retryAt), $state];
            case Op::REFUND:
                return match (true) {
                    $isOther => [$answer($hits)->denied($now), $kept],
                    $isOpen && $op->cost > 0 => $withHits($hits - $op->cost),
                    default => [$answer($hits), $kept],
                };
            case Op::SETTLE:
                return match (true) {
                    $isOther => [$answer($hits)->denied($now), $kept],
                    $op->cost === 0 => [$answer($hits), $kept],
                    default => $withHits(self::sum($hits, $op->cost)),
                };
            case Op::START:
                return [$answer($hits)->denied($end), $kept];
            default:
                $reset = $answer(0);
                $reset->expiresAt = static::ENDS_WITHOUT_HITS ? $end : $now;
                return [$reset, State::FULL];
        }
    }

    /**
     * Takes as many hits as are `left` beyond those to leave, but no fewer than the least: what `take` makes of so many.
     *
     * @param callable(int): array{Answer, list<mixed>} $take
     */
    public static function takeUpTo(Op $op, int $left, callable $take): array
    {
        $cost = max(min($op->cost, max(0, $left - $op->leave)), $op->least);
        $needed = $take(self::sum($cost, $op->leave));
        return $needed[0]->isAccepted ? $take($cost) : $needed;
    }
}
