<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A limit at a moment: its state as the clock lets it be, and what each operation makes of it: an answer, and the state to remember. */
abstract class Moment
{
    /** Without times from the future, unless the operation settles a call. */
    protected array $state;

    /** @param array $stored the state as it was stored: a peek leaves also a time from the future as it is */
    public function apply(array $stored, Op $op): array
    {
        return match ($op->kind) {
            Op::TAKE => $this->take($op->cost),
            Op::TAKE_UP_TO => $this->takeUpTo($op),
            Op::PEEK => [$this->peek($op->cost), $stored],
            Op::CHECK => $this->check(),
            Op::RESERVE => $this->reserve($op->cost, $op->time),
            Op::REFUND => $this->refund($op->cost, $op->expiry),
            Op::SETTLE => $this->settle($op->cost, $op->expiry),
            Op::START => $this->start($op->time),
            default => [$this->reset(), State::FULL],
        };
    }

    /** How much the limit allows at once. */
    abstract protected function capacity(): int;

    /** The tokens or hits that are left. */
    abstract protected function left(): int;

    /** The answer to a call that is accepted and changes nothing. */
    abstract protected function accept(): Answer;

    /** Takes a cost above 0 and within the capacity, if it is there. */
    abstract protected function takeIfThere(int $cost): array;
    abstract protected function refund(int $cost, ?int $expiry): array;
    abstract protected function settle(int $cost, ?int $expiry): array;
    abstract protected function start(int $missing): array;
    abstract protected function reset(): Answer;

    /** Denies a call until `retryAt` and changes nothing. */
    protected function deny(int $retryAt): array { return [$this->accept()->denied($retryAt), $this->state]; }

    protected function take(int $cost): array
    {
        return match (true) {
            $cost === 0 => [$this->accept(), $this->state],
            $cost > $this->capacity() => $this->deny(Answer::NEVER),
            default => $this->takeIfThere($cost),
        };
    }

    /** Takes as many as are left beyond those to leave, but no fewer than the least. */
    private function takeUpTo(Op $op): array
    {
        $cost = max(min($op->cost, max(0, $this->left() - $op->leave)), $op->least);
        $needed = $this->take(Limit::sum($cost, $op->leave));
        return $needed[0]->isAccepted ? $this->take($cost) : $needed;
    }

    /** The answer of `take`, with the level that the limit keeps. */
    private function peek(int $cost): Answer
    {
        [$taken] = $this->take($cost);
        $answer = $this->accept();
        return $taken->isAccepted ? $answer : $answer->denied($taken->retryAt);
    }

    protected function check(): array { return $this->take(1); }
    protected function reserve(int $cost, int $maxWait): array { return $this->take($cost); }
}
