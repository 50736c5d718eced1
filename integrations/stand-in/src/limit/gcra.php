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
 *
 * This is a bucket at a moment.
 */
final class Gcra extends Moment
{
    /** The unit in which the times of overdrawn and emptied buckets are kept, in nanoseconds. */
    private const GRAIN = 1_000;
    /** The longest debt that `reserve` or `check` can make. */
    private const MAX_DEBT = Limit::MAX_REFILL;

    /** The latest time at which a bucket that owes nothing can be full: one full refill from now. */
    private array $latest;
    /** When the bucket is full again; not before now. */
    private array $fullAt;

    public function __construct(TokenBucket $limit, array $state, int $now, Op $op)
    {
        parent::__construct($limit, $now);
        $this->latest = $limit->add([$now, 0], $limit->full);
        $isOther = in_array($state[0], [State::WINDOW, State::BLOCKED, State::HITS], true);
        $state = $isOther ? State::FULL : $state;
        $this->become($op->settles() ? $state : $this->withoutFuture($state));
    }

    private function become(array $state): void
    {
        $this->state = $state;
        $this->fullAt = $this->findFullAt($state);
        if ($this->fullAt[0] < $this->now) {
            $this->fullAt = [$this->now, 0];
        }
    }

    /** What is in the bucket, as the time in which it came back. */
    private function available(): array { return $this->limit->sub($this->latest, $this->fullAt); }

    protected function left(): int { return $this->limit->tokensIn($this->available()); }

    protected function accept(): Answer
    {
        $isEmptied = $this->state[0] === State::EMPTIED;
        $expiresAt = $isEmptied ? TokenBucket::ceil($this->fullAt) : max(State::expiresAt($this->state), $this->now);
        return new Answer(true, $this->now, $this->now, $expiresAt, $this->available());
    }

    /** Accepts a call that takes `taken` tokens, after which the bucket is full at `fullAt`, which is not after `latest`. */
    private function acceptUntil(array $fullAt, int $taken): array
    {
        $available = $this->limit->sub($this->latest, $fullAt);
        $answer = new Answer(true, $this->now, $this->now, TokenBucket::ceil($fullAt), $available, $taken);
        if ($this->state[0] !== State::FILLING) {
            $ahead = $this->ahead();
            $after = $this->chargedUntil($fullAt);
            $after ??= $ahead === null ? null : Reserved::state($this->limit, $fullAt, $fullAt, $ahead);
        }
        return [$answer, $after ?? [State::FILLING, ...$fullAt]];
    }

    /** How far ahead the bucket may lie for what was reserved, until it is full: by shorter numbers it may still be owed. */
    private function ahead(): ?int
    {
        return $this->state[0] === State::RESERVED && $this->fullAt > [$this->now, 0] ? $this->state[3] : null;
    }

    /**
     * The state of a bucket that other numbers have made, once a call has made it full at `fullAt`. Null if no other numbers have, or if
     * it is full by them, too.
     */
    private function chargedUntil(array $fullAt): ?array
    {
        return $this->isEmptied() ? Emptied::charged($this->limit, $this->state, $this->now, $this->fullAt, $fullAt) : null;
    }

    /**
     * The first moment at which a call is accepted that would make the bucket full at `fullAt`: one full refill before that, or when
     * all is forgiven.
     */
    private function affordableAt(array $fullAt): int
    {
        $paid = TokenBucket::ceil($this->limit->sub($fullAt, $this->limit->full));
        return $this->state[0] === State::OVERDRAWN ? min($paid, $this->state[1]) : $paid;
    }

    /** The longest debt that a reservation may make: one refill beyond what a bucket that other numbers have made owes. */
    private function longestDebt(): int
    {
        return $this->isEmptied()
            ? $this->limit->refills(Reach::refills($this->state[2])) + $this->limit->full[0]
            : self::MAX_DEBT;
    }

    /** Whether other numbers have made the bucket, by which it is not full yet. */
    private function isEmptied(): bool { return $this->state[0] === State::EMPTIED && State::expiresAt($this->state) > $this->now; }

    /** Whether the bucket owes what no later call forgives, or other numbers have made it. */
    private function hasLastingDebt(): bool
    {
        return $this->state[0] === State::RESERVED ? $this->fullAt > $this->latest : $this->isEmptied();
    }

    /** A state as this limit finds it now: a bucket that is further from full than it allows is empty now. */
    private function withoutFuture(array $state): array
    {
        $latest = TokenBucket::ceil($this->latest);
        [$isFromFuture, $refills] = match ($state[0]) {
            State::FILLING => [[$state[1], $state[2]] > $this->latest, 0],
            State::RESERVED => [$state[1] > $latest + $this->limit->refills($state[3]), $state[3]],
            State::OVERDRAWN => [$state[1] > self::toGrain($latest), 0],
            // The next code stands for one refill more at least.
            default => Reach::isAhead($state[2])
                ? [$state[1] > self::toGrain($latest), Reach::refills($state[2]) + 1]
                : [$state[1] > self::toGrain($this->now), Reach::refills($state[2])],
        };
        return $isFromFuture ? Emptied::state($this->now, min($refills, Refills::MOST), false, State::expiresAt($state)) : $state;
    }

    /** When a bucket in this state is full, its debt paid. A debt that is forgiven by now counts for nothing. */
    private function findFullAt(array $state): array
    {
        return match ($state[0]) {
            State::FILLING => $this->limit->add([$state[1], $state[2]], [0, 0]),
            State::RESERVED => Reserved::fullAt($this->limit, $state[1], $state[2]),
            State::OVERDRAWN => $state[1] > $this->now ? [$state[1] + min($state[2], self::MAX_DEBT), 0] : [0, 0],
            default => Emptied::fullAt($this->limit, $state[1], $state[2]),
        };
    }

    /** The state of a bucket with a debt that is forgiven at `forgivenAt`, and else paid at `fullAt`. */
    private static function overdrawnUntil(array $fullAt, int $forgivenAt): array
    {
        $debt = self::toGrain(max(0, TokenBucket::ceil($fullAt) - $forgivenAt));
        return [State::OVERDRAWN, $forgivenAt, min($debt, self::MAX_DEBT - self::GRAIN)];
    }

    /** Rounds a time up to a whole grain. */
    public static function toGrain(int $ns): int { return intdiv($ns + self::GRAIN - 1, self::GRAIN) * self::GRAIN; }

    protected function takeIfThere(int $cost): array
    {
        $fullAt = $this->limit->add($this->fullAt, $this->limit->costInTime($cost));
        return $fullAt > $this->latest ? $this->deny($this->affordableAt($fullAt)) : $this->acceptUntil($fullAt, $cost);
    }

    protected function check(): array
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

    protected function reserve(int $cost, int $maxWait): array
    {
        if ($cost === 0 || $cost > $this->limit->capacity) {
            return $this->take($cost);
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

    protected function start(int $missing): array
    {
        if (State::expiresAt($this->state) > $this->now) {
            return $this->deny(State::expiresAt($this->state));
        }
        return $this->acceptUntil(min($this->limit->add([$this->now, 0], [$missing, 0]), $this->latest), 0);
    }

    protected function reset(): Answer
    {
        $this->become(State::FULL);
        return $this->accept();
    }

    protected function refund(int $cost, ?int $expiry): array
    {
        $span = $this->limit->costInTime($cost);
        $stillMissing = $expiry === null ? null : max(0, $expiry - $this->now);
        if ($stillMissing === 0) {
            return $this->deny($this->now);
        }
        $floor = [$this->now, 0];
        // An expiry is rounded up, so less than a nanosecond is kept back.
        [$back, $keptBack] = $stillMissing !== null && [$stillMissing, 0] < $span ? [[$stillMissing, 0], 1] : [$span, 0];
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

    protected function settle(int $cost, ?int $expiry): array
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
