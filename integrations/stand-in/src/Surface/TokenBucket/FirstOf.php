<?php

declare(strict_types=1);

namespace TokenBucket;

final class FirstOf implements Limiter
{
    use StandIn\SetMethods;

    public function __construct(Limiter ...$limiters)
    {
        $this->value = StandIn\SetValue::ofArguments($limiters, false);
    }

    public function consume(int $token_count = 1): bool
    {
        func_num_args() > 1 && StandIn\Thrown::tooMany(func_num_args());
        return $this->ask('consume', StandIn\Thrown::unlessCount($token_count), 0, false)->isAccepted();
    }

    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): Decision
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        return $this->ask('attempt', StandIn\Thrown::unlessCount($tokens), StandIn\Thrown::unlessCount($leave, 2), false);
    }

    public function peek(int $tokens = 1, int $leave = 0): Decision
    {
        func_num_args() > 2 && StandIn\Thrown::tooMany(func_num_args());
        return $this->ask('peek', StandIn\Thrown::unlessCount($tokens), StandIn\Thrown::unlessCount($leave, 2), true);
    }

    /** Asks one limit after the other, until one accepts; if none does, one in a dry run lets the call go on. */
    private function ask(string $method, int $cost, int $leave, bool $isPeek): Decision
    {
        $value = $this->value();
        $each = [];
        $op = $isPeek ? new StandIn\Op(StandIn\Op::PEEK, $cost) : StandIn\Op::take($cost);
        foreach ($value->parts as $i => $part) {
            $each[$i] = $part->decide($method, $op, $leave);
            $isTold = !$each[$i]->isDegraded;
            if ($isTold && $each[$i]->answer->isAccepted) {
                $value->charged = $each[$i]->answer->taken > 0 ? $i : $value->charged;
                return StandIn\DecisionValue::decision([$each[$i]]);
            }
        }
        $soonest = 0;
        foreach ($each as $i => $decision) {
            if ($decision->isAdmitted()) {
                return StandIn\DecisionValue::decision([$decision]);
            }
            $soonest = $decision->retryAfter() < $each[$soonest]->retryAfter() ? $i : $soonest;
        }
        return StandIn\DecisionValue::decision([$each[$soonest]], $each);
    }

    public function refund(int $tokens = 1): bool
    {
        StandIn\Thrown::unlessCount($tokens);
        $value = $this->value(func_num_args(), 1);
        return $value->charged !== null && $value->parts[$value->charged]->decide('refund', new StandIn\Op(StandIn\Op::REFUND, $tokens))->hasRefunded();
    }
}
