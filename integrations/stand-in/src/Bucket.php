<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A bucket at a moment: a limit, and a state as the clock lets it be; and the answers that every operation ends with. */
class Bucket
{
    /** The unit in which the times of an overdrawn bucket are kept, in nanoseconds. */
    protected const GRAIN = 500;
    /** The longest debt that `reserve` or `check` can make. */
    protected const MAX_DEBT = Limit::MAX_REFILL;

    /** The latest time at which a bucket that owes nothing can be full: one full refill from now. */
    protected array $latest;
    /** Without times from the future, unless the operation settles a call. */
    protected array $state;
    /** When the bucket is full again; not before now. */
    protected array $fullAt;

    public function __construct(protected TokenBucket $limit, array $state, protected int $now, Op $op)
    {
        $this->latest = $limit->add([$now, 0], $limit->full);
        $isOther = in_array($state[0], [State::WINDOW, State::BLOCKED, State::HITS], true);
        $state = $isOther ? State::FULL : $state;
        $this->become($op->settles() ? $state : $this->withoutFuture($state));
    }

    protected function become(array $state): void
    {
        $this->state = $state;
        $this->fullAt = $this->findFullAt($state);
        if ($this->fullAt[0] < $this->now) {
            $this->fullAt = [$this->now, 0];
        }
    }

    /** What is in the bucket, as the time in which it came back. */
    protected function available(): array { return $this->limit->sub($this->latest, $this->fullAt); }

    /** Accepts a call that leaves the bucket as it is. */
    protected function accept(): Answer
    {
        $isEmptied = $this->state[0] === State::EMPTIED;
        $expiresAt = $isEmptied ? TokenBucket::ceil($this->fullAt) : max(State::expiresAt($this->state), $this->now);
        return new Answer(true, $this->now, $this->now, $expiresAt, $this->available());
    }

    /** Denies a call until `retryAt` and leaves the bucket as it is. */
    protected function deny(int $retryAt): array { return [$this->accept()->denied($retryAt), $this->state]; }

    /** Accepts a call that takes `taken` tokens, after which the bucket is full at `fullAt`, which is not after `latest`. */
    protected function acceptUntil(array $fullAt, int $taken): array
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
    protected function ahead(): ?int
    {
        return $this->state[0] === State::RESERVED && $this->fullAt > [$this->now, 0] ? $this->state[3] : null;
    }

    /**
     * The state of a bucket that other numbers have made, once a call has made it full at `fullAt`. Null if no other numbers have, or if
     * it is full by them, too.
     */
    protected function chargedUntil(array $fullAt): ?array
    {
        return $this->isEmptied() ? Emptied::charged($this->limit, $this->state, $this->now, $this->fullAt, $fullAt) : null;
    }

    /**
     * The first moment at which a call is accepted that would make the bucket full at `fullAt`: one full refill before that, or when
     * all is forgiven.
     */
    protected function affordableAt(array $fullAt): int
    {
        $paid = TokenBucket::ceil($this->limit->sub($fullAt, $this->limit->full));
        return $this->state[0] === State::OVERDRAWN ? min($paid, $this->state[1]) : $paid;
    }

    /** The longest debt that a reservation may make: one refill beyond what a bucket that other numbers have made owes. */
    protected function longestDebt(): int
    {
        return $this->isEmptied()
            ? Reach::debtSpan(Reach::debt($this->state[2]), $this->limit) + $this->limit->full[0]
            : self::MAX_DEBT;
    }

    /** Whether other numbers have made the bucket, by which it is not full yet. */
    private function isEmptied(): bool { return $this->state[0] === State::EMPTIED && State::expiresAt($this->state) > $this->now; }

    /** Whether the bucket owes what no later call forgives, or other numbers have made it. */
    protected function hasLastingDebt(): bool
    {
        return $this->state[0] === State::RESERVED ? $this->fullAt > $this->latest : $this->isEmptied();
    }

    /** A state as this limit finds it now: a bucket that is further from full than it allows is empty now. */
    private function withoutFuture(array $state): array
    {
        $latest = TokenBucket::ceil($this->latest);
        [$isFromFuture, $debt] = match ($state[0]) {
            State::FILLING => [[$state[1], $state[2]] > $this->latest, Reach::NO_DEBT],
            State::RESERVED => [
                $state[1] > $latest + $this->limit->refills($state[3]),
                $state[3] === 0 ? Reach::REFILL : Reach::REFILLS_64,
            ],
            State::OVERDRAWN => [$state[1] > self::toGrain($latest), Reach::NO_DEBT],
            default => [$state[1] > $latest, Reach::withTimeCut(Reach::debt($state[2]))],
        };
        return $isFromFuture ? Emptied::state($this->now, $debt, State::expiresAt($state)) : $state;
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
    protected static function overdrawnUntil(array $fullAt, int $forgivenAt): array
    {
        $debt = self::toGrain(max(0, TokenBucket::ceil($fullAt) - $forgivenAt));
        return [State::OVERDRAWN, $forgivenAt, min($debt, self::MAX_DEBT - self::GRAIN)];
    }

    /** Rounds a time up to a whole grain. */
    protected static function toGrain(int $ns): int { return intdiv($ns + self::GRAIN - 1, self::GRAIN) * self::GRAIN; }
}
