<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * How a token bucket decides: the generic cell rate algorithm (GCRA, ITU-T I.371).
 *
 * A bucket is kept as the time at which it is full again. A token costs a fixed span of time, so a call that takes `n` tokens moves that
 * time ahead:
 *
 *     fullAt' = max(fullAt, now) + n * interval
 *     accepted   if fullAt' <= now + capacity * interval
 */
final class Gcra extends Bucket
{
    public function apply(Op $op): array
    {
        return match ($op->kind) {
            Op::TAKE => $this->take($op->cost),
            Op::TAKE_UP_TO => $this->takeUpTo($op),
            Op::PEEK => $this->peek($op->cost),
            Op::CHECK => $this->check(),
            Op::RESERVE => $this->reserve($op->cost, $op->time),
            Op::REFUND => $this->refund($op->cost, $op->expiry),
            Op::SETTLE => $this->settle($op->cost),
            Op::START => $this->start($op->time),
            default => $this->reset(),
        };
    }

    private function take(int $cost): array
    {
        if ($cost === 0) {
            return [$this->accept(), $this->state];
        }
        if ($cost > $this->limit->capacity) {
            return $this->deny(Answer::NEVER);
        }
        $fullAt = $this->limit->add($this->fullAt, $this->limit->costInTime($cost));
        return $fullAt > $this->latest ? $this->deny($this->affordableAt($fullAt)) : $this->acceptUntil($fullAt, $cost);
    }

    private function takeUpTo(Op $op): array
    {
        $there = max(0, $this->limit->tokensIn($this->available()) - $op->leave);
        $cost = max(min($op->cost, $there), $op->least);
        $needed = $this->take(Limit::sum($cost, $op->leave));
        return $needed[0]->isAccepted ? $this->take($cost) : $needed;
    }

    /** The answer of `take`, with the level that the bucket keeps. */
    private function peek(int $cost): array
    {
        [$taken] = $this->take($cost);
        $answer = $this->accept();
        return [$taken->isAccepted ? $answer : $answer->denied($taken->retryAt), $this->state];
    }

    private function check(): array
    {
        $fullAt = $this->limit->add($this->fullAt, $this->limit->interval);
        if ($fullAt <= $this->latest) {
            return $this->acceptUntil($fullAt, 1);
        }
        // A denied check charges what is forgiven after a refill. On top of what is not, it charges nothing.
        if ($this->hasLastingDebt()) {
            return $this->deny($this->affordableAt($fullAt));
        }
        // All is forgiven one full refill after this check.
        $this->become(self::overdrawnUntil($fullAt, self::toGrain(TokenBucket::ceil($this->latest))));
        return $this->deny($this->affordableAt($this->limit->add($this->fullAt, $this->limit->interval)));
    }

    private function reserve(int $cost, int $maxWait): array
    {
        if ($cost === 0) {
            return [$this->accept(), $this->state];
        }
        if ($cost > $this->limit->capacity) {
            return $this->deny(Answer::NEVER);
        }
        $fullAt = $this->limit->add($this->fullAt, $this->limit->costInTime($cost));
        if ($fullAt <= $this->latest) {
            return $this->acceptUntil($fullAt, $cost);
        }
        $affordableAt = $this->affordableAt($fullAt);
        $wait = $affordableAt - $this->now;
        $maxWait = min($maxWait, $this->longestDebt());
        if ($wait > $maxWait) {
            return $this->deny($this->now + $wait - $maxWait);
        }
        // What denied checks owe beyond that is forgiven: the bucket is empty when the caller has waited.
        $fullAt = min($fullAt, $this->limit->add([$affordableAt, 0], $this->limit->full));
        $answer = new Answer(true, $this->now, $this->now, TokenBucket::ceil($fullAt), Answer::NOTHING, $cost, $wait);
        $after = $this->chargedUntil($fullAt);
        return [$answer, $after ?? Reserved::state($this->limit, $fullAt, $this->latest, $this->ahead() ?? 0)];
    }

    private function start(int $missing): array
    {
        if (State::expiresAt($this->state) > $this->now) {
            return $this->deny(State::expiresAt($this->state));
        }
        return $this->acceptUntil(min($this->limit->add([$this->now, 0], [$missing, 0]), $this->latest), 0);
    }

    private function reset(): array
    {
        $this->become(State::FULL);
        return [$this->accept(), State::FULL];
    }

    private function refund(int $tokens, ?int $expiry): array
    {
        $cost = $this->limit->costInTime($tokens);
        $stillMissing = $expiry === null ? null : max(0, $expiry - $this->now);
        if ($stillMissing === 0) {
            return $this->deny($this->now);
        }
        $floor = [$this->now, 0];
        // An expiry is rounded up, so less than a nanosecond is kept back.
        [$back, $keptBack] = $stillMissing !== null && [$stillMissing, 0] < $cost ? [[$stillMissing, 0], 1] : [$cost, 0];
        $fullAt = $this->limit->add($floor, $back) >= $this->fullAt
            ? $floor
            : $this->limit->add($this->limit->sub($this->fullAt, $back), [$keptBack, 0]);
        [$kind, $forgivenAt] = $this->state;
        $this->become(match (true) {
            $kind === State::EMPTIED => Emptied::givenBack($this->limit, $this->state, $this->now, $this->fullAt, $back, $keptBack),
            $fullAt === $floor => State::FULL,
            $kind === State::RESERVED => Reserved::state($this->limit, $fullAt, $fullAt, $this->state[3]),
            $kind === State::OVERDRAWN && TokenBucket::ceil($fullAt) + self::GRAIN > $forgivenAt
                => self::overdrawnUntil($fullAt, $forgivenAt),
            default => [State::FILLING, ...$fullAt],
        });
        return [$this->accept(), $this->state];
    }

    private function settle(int $cost): array
    {
        [$kind, $forgivenAt] = $this->state;
        [$before, $empty] = match (true) {
            // A bucket of other numbers may be empty at a later time.
            $kind === State::FILLING => [$this->fullAt, max($this->fullAt, $this->latest)],
            // What denied checks owe is forgiven, this is not: it is empty, and owes this alone.
            $kind === State::OVERDRAWN && $forgivenAt > $this->now => [null, max([$forgivenAt, 0], $this->latest)],
            default => [$this->fullAt, $this->latest],
        };
        $before ??= $empty;
        // What is beyond one capacity below empty is forgotten.
        $furthest = max($this->limit->add($empty, $this->limit->full), $before);
        $fullAt = min($this->limit->add($before, $this->limit->costInTime($cost)), $furthest);
        if ($fullAt === $before) {
            return [$this->accept(), $this->state];
        }
        $this->become($this->chargedUntil($fullAt) ?? match (true) {
            $kind === State::RESERVED => Reserved::state($this->limit, $fullAt, $empty, $this->state[3]),
            $fullAt > $empty => Reserved::state($this->limit, $fullAt, $empty, 0),
            default => [State::FILLING, ...$fullAt],
        });
        return [$this->accept(), $this->state];
    }
}
