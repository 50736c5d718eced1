<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * The sliding window: never more hits than its limit in any stretch of its interval.
 *
 * A hit counts for one interval, and is kept as the time at which it leaves the window. A call is accepted if enough of the hits before
 * it have left.
 */
final class SlidingWindow extends Limit
{
    public const SUFFIX = '#s';
    private const MAX_HITS = 1_024;

    private int $interval;

    public function __construct(int $maxHits, float $interval)
    {
        $this->capacity = self::checkCount($maxHits, self::MAX_HITS, LimitError::SLIDING_HITS);
        $this->interval = self::duration($interval);
    }

    public function window(): int { return $this->interval; }
    protected function at(array $state, int $now, Op $op): Moment { return new SlidingMoment($this, $state, $now, $op); }

    public function moreAfter(Answer $answer, int $leave): int
    {
        $left = $this->remaining($answer);
        return match (true) {
            // When its last hit leaves is known, and no earlier moment.
            $left < $leave => $answer->expiresAt - $answer->now,
            $left === $this->capacity => $this->interval,
            default => $answer->retryAt - $answer->now,
        };
    }
}

/** A sliding window at a moment. */
final class SlidingMoment extends Moment
{
    /** @var list<int> when each hit that has not left yet will leave, the earliest first */
    private array $expiries;

    public function __construct(SlidingWindow $window, array $state, int $now, Op $op)
    {
        parent::__construct($window, $now);
        $stored = $state[0] === State::HITS ? array_slice($state, 1) : [];
        // Other numbers may have taken the hits that a call is settled among. Else those from the future leave one interval from now.
        $latest = $op->settles() ? PHP_INT_MAX : $now + $window->window();
        $in = array_filter($stored, static fn(int $time): bool => $time > $now);
        $this->expiries = array_map(static fn(int $time): int => min($time, $latest), array_values($in));
        $this->state = $stored !== [] && end($stored) > $latest ? self::keep($this->expiries) : $state;
    }

    private static function keep(array $expiries): array { return $expiries === [] ? State::FULL : [State::HITS, ...$expiries]; }

    protected function left(): int { return max(0, $this->limit->capacity - count($this->expiries)); }
    protected function accept(): Answer { return $this->answer($this->expiries); }

    private function answer(array $expiries, int $taken = 0): Answer
    {
        $last = $expiries === [] ? $this->now : end($expiries);
        $expiresAt = $taken > 0 ? $this->now + $this->limit->window() : $last;
        $left = max(0, $this->limit->capacity - count($expiries));
        return new Answer(true, $this->now, min($expiries[0] ?? $expiresAt, $expiresAt), $expiresAt, [$left, 0], $taken);
    }

    protected function takeIfThere(int $cost): array
    {
        if ($cost > $this->left()) {
            // So many hits have to leave. There are enough: more than are left are asked for.
            return $this->deny($this->expiries[count($this->expiries) + $cost - $this->limit->capacity - 1]);
        }
        $expiries = [...$this->expiries, ...array_fill(0, $cost, $this->now + $this->limit->window())];
        // Hits of a longer interval leave later.
        sort($expiries);
        return [$this->answer($expiries, $cost), self::keep($expiries)];
    }

    /** Gives hits back: those that leave at the expiry, or without it the latest ones. */
    protected function refund(int $cost, ?int $expiry): array
    {
        [$expiries, $rest] = [$this->expiries, $cost];
        for ($i = count($expiries) - 1; $i >= 0 && $rest > 0; $i--) {
            if ($expiry === null || $expiries[$i] === $expiry) {
                array_splice($expiries, $i, 1);
                $rest--;
            }
        }
        $answer = $this->answer($expiries);
        $answer->isAccepted = $expiry === null || $rest < $cost;
        return [$answer, $rest < $cost ? self::keep($expiries) : $this->state];
    }

    protected function settle(int $cost, ?int $expiry): array { return $this->take(min($cost, $this->left())); }

    protected function start(int $missing): array
    {
        $answer = $this->accept();
        return [$answer->denied($answer->retryAt), $this->state];
    }

    protected function reset(): Answer
    {
        $this->state = State::FULL;
        return $this->answer([]);
    }
}
