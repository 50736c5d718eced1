<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A window whose hits come back all at once, when it ends: a fixed or a calendar window. They differ in how they find that end. */
abstract class Window extends Limit
{
    /** The most hits of a window. */
    public const MAX_HITS = 16_777_214;
    /** How much two ends of one window may differ, in nanoseconds. */
    public const SLACK = 0;
    /** Whether a window without hits has an end, too. */
    public const ENDS_WITHOUT_HITS = false;

    protected int $maxHits;

    public function __construct(int $maxHits) { $this->maxHits = self::checkCount($maxHits, self::MAX_HITS, LimitError::HITS); }

    /** The end of a window that opens now. */
    abstract public function endAt(int $now): int;

    /**
     * The end of the stored window, if it is open now. One from the future is brought down, unless the operation settles a call: other
     * numbers may have made the window.
     */
    abstract public function findOpen(int $storedEnd, int $now, Op $op): ?int;

    public function capacity(): int { return $this->maxHits; }
    protected function at(array $state, int $now, Op $op): Moment { return new WindowMoment($this, $state, $now, $op); }

    public function moreAfter(Answer $answer, int $leave): int
    {
        $isFull = !static::ENDS_WITHOUT_HITS && $this->remaining($answer) === $this->maxHits;
        return $isFull ? $this->window() : $answer->expiresAt - $answer->now;
    }
}

/** A window at a moment. */
final class WindowMoment extends Moment
{
    private bool $isOpen = false;
    private int $end;
    private int $hits = 0;

    public function __construct(private Window $window, array $state, private int $now, Op $op)
    {
        [$kind, $last, $hits] = [...$state, 0];
        $open = $kind === State::WINDOW ? $window->findOpen($last + 1, $now, $op) : null;
        $this->isOpen = $open !== null;
        $this->hits = $this->isOpen ? $hits : 0;
        $this->end = $open ?? $window->endAt($now);
        $this->state = $this->isOpen && $this->end !== $last + 1 ? [State::WINDOW, $this->end - 1, $hits] : $state;
    }

    protected function capacity(): int { return $this->window->capacity(); }
    protected function left(): int { return max(0, $this->capacity() - $this->hits); }
    protected function accept(): Answer { return $this->answer($this->hits); }

    private function answer(int $hits, int $taken = 0): Answer
    {
        $hasEnd = $this->isOpen || $hits > 0 || $this->window::ENDS_WITHOUT_HITS;
        // A call may be settled in a window that has ended by the stored time, but not by the call's own.
        $expiresAt = $hasEnd ? max($this->end, $this->now) : $this->now;
        return new Answer(true, $this->now, $this->now, $expiresAt, [max(0, $this->capacity() - $hits), 0], $taken);
    }

    private function withHits(int $hits, int $taken = 0): array
    {
        $hits = max(0, min($hits, Window::MAX_HITS));
        return [$this->answer($hits, $taken), [State::WINDOW, $this->end - 1, $hits]];
    }

    protected function takeIfThere(int $cost): array
    {
        return $cost > $this->left() ? $this->deny($this->end) : $this->withHits($this->hits + $cost, $cost);
    }

    /** Whether the call that is settled was charged to another window. One that has ended is not charged for a call that began in it. */
    private function isOther(?int $expiry): bool
    {
        return $expiry !== null && !($this->isOpen && abs($expiry - $this->end) <= $this->window::SLACK);
    }

    protected function refund(int $cost, ?int $expiry): array
    {
        return match (true) {
            $this->isOther($expiry) => $this->deny($this->now),
            $this->isOpen && $cost > 0 => $this->withHits($this->hits - $cost),
            default => [$this->accept(), $this->state],
        };
    }

    protected function settle(int $cost, ?int $expiry): array
    {
        return match (true) {
            $this->isOther($expiry) => $this->deny($this->now),
            $cost === 0 => [$this->accept(), $this->state],
            default => $this->withHits(Limit::sum($this->hits, $cost)),
        };
    }

    protected function start(int $missing): array { return $this->deny($this->end); }

    protected function reset(): Answer
    {
        $answer = $this->answer(0);
        $answer->expiresAt = $this->window::ENDS_WITHOUT_HITS ? $this->end : $this->now;
        return $answer;
    }
}
