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

    private int $maxHits;
    private int $interval;

    public function __construct(int $maxHits, float $interval)
    {
        $this->maxHits = self::checkCount($maxHits, self::MAX_HITS, LimitError::SLIDING_HITS);
        $this->interval = self::duration($interval);
    }

    public function capacity(): int { return $this->maxHits; }
    public function window(): int { return $this->interval; }

    public function moreAfter(Answer $answer, int $leave): int
    {
        $left = $this->remaining($answer);
        return match (true) {
            // When its last hit leaves is known, and no earlier moment.
            $left < $leave => $answer->expiresAt - $answer->now,
            $left === $this->maxHits => $this->interval,
            default => $answer->retryAt - $answer->now,
        };
    }

    public function apply(array $state, int $now, Op $op): array
    {
        $blocked = Block::decide($state, $now, $op, $this->maxHits);
        if ($blocked !== null) {
            return $blocked;
        }
        $expiries = $state[0] === State::HITS ? array_slice($state, 1) : [];
        // Other numbers may have taken the hits that a call is settled among.
        $latest = $op->settles() ? PHP_INT_MAX : $now + $this->interval;
        $isCorrected = $expiries !== [] && end($expiries) > $latest;
        // When each hit that has not left yet will leave, the earliest first.
        $expiries = array_map(
            fn(int $time): int => min($time, $latest),
            array_values(array_filter($expiries, fn(int $time): bool => $time > $now)),
        );
        $left = max(0, $this->maxHits - count($expiries));
        $take = fn(int $cost): array => $this->take($expiries, $left, $now, $cost);
        switch ($op->kind) {
            case Op::TAKE:
            case Op::RESERVE:
                $decided = $take($op->cost);
                break;
            case Op::CHECK:
                $decided = $take(1);
                break;
            case Op::TAKE_UP_TO:
                $decided = Window::takeUpTo($op, $left, $take);
                break;
            case Op::PEEK:
                [$taken] = $take($op->cost);
                $answer = $this->answer($expiries, $now, 0);
                $answer->isAccepted = $taken->isAccepted;
                $answer->retryAt = $taken->retryAt;
                return [$answer, $state];
            case Op::REFUND:
                $decided = $this->refund($expiries, $now, $op);
                break;
            case Op::SETTLE:
                $decided = $take(min($op->cost, $left));
                break;
            case Op::START:
                $decided = [$this->answer($expiries, $now, 0), null];
                $decided[0]->isAccepted = false;
                break;
            default:
                return [$this->answer([], $now, 0), State::FULL];
        }
        // Hits from the future are brought down to one interval from now.
        [$answer, $after] = $decided;
        $after ??= $isCorrected ? $expiries : null;
        return [$answer, $after === null ? $state : ($after === [] ? State::FULL : [State::HITS, ...$after])];
    }

    /** The answer to a call that takes this many hits. It is accepted. */
    private function answer(array $expiries, int $now, int $taken): Answer
    {
        $expiresAt = $taken > 0 ? $now + $this->interval : ($expiries === [] ? $now : $expiries[count($expiries) - 1]);
        $left = max(0, $this->maxHits - count($expiries) - $taken);
        return new Answer(true, $now, min($expiries[0] ?? $expiresAt, $expiresAt), $expiresAt, [$left, 0], $taken);
    }

    /** @return array{Answer, list<int>|null} the hits to remember; null if they stay as they are */
    private function take(array $expiries, int $left, int $now, int $cost): array
    {
        if ($cost === 0) {
            return [$this->answer($expiries, $now, 0), null];
        }
        if ($cost > $left) {
            // So many hits have to leave. There are enough: more than are left are asked for.
            $retryAt = $cost > $this->maxHits ? Answer::NEVER : $expiries[count($expiries) + $cost - $this->maxHits - 1];
            return [$this->answer($expiries, $now, 0)->denied($retryAt), null];
        }
        $answer = $this->answer($expiries, $now, $cost);
        array_push($expiries, ...array_fill(0, $cost, $answer->expiresAt));
        // Hits of a longer interval leave later.
        sort($expiries);
        return [$answer, $expiries];
    }

    /** Gives hits back: those that leave at the expiry, or without it the latest ones. */
    private function refund(array $expiries, int $now, Op $op): array
    {
        $rest = $op->cost;
        for ($i = count($expiries) - 1; $i >= 0 && $rest > 0; $i--) {
            if ($op->expiry === null || $expiries[$i] === $op->expiry) {
                array_splice($expiries, $i, 1);
                $rest--;
            }
        }
        $answer = $this->answer($expiries, $now, 0);
        $answer->isAccepted = $op->expiry === null || $rest < $op->cost;
        return [$answer, $rest < $op->cost ? $expiries : null];
    }
}
