<?php

declare(strict_types=1);

namespace TokenBucket;

use TokenBucket\StandIn\Internal\DecisionValue;
use TokenBucket\StandIn\Internal\SetMethods;
use TokenBucket\StandIn\Internal\SetValue;
use TokenBucket\StandIn\Internal\Thrown;
use TokenBucket\StandIn\Limit\Op;

final class FirstOf implements Limiter
{
    use SetMethods;

    public function __construct(Limiter ...$limiters)
    {
        if (count($limiters) < 2) {
            $given = count($limiters) === 1 ? '1' : '0';
            throw Thrown::at(new \ArgumentCountError("TokenBucket\\FirstOf::__construct() expects at least 2 arguments, $given given"));
        }
        $this->value = SetValue::ofArguments($limiters, false);
    }

    public function consume(int $token_count = 1): bool
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        return $this->ask('consume', Thrown::unlessCount($token_count), 0, false)->isAccepted();
    }

    #[\NoDiscard]
    public function attempt(int $tokens = 1, int $leave = 0): Decision
    {
        func_num_args() > 2 && Thrown::tooMany(func_num_args());
        return $this->ask('attempt', Thrown::unlessCount($tokens), Thrown::unlessCount($leave, 2), false);
    }

    public function peek(int $tokens = 1, int $leave = 0): Decision
    {
        func_num_args() > 2 && Thrown::tooMany(func_num_args());
        return $this->ask('peek', Thrown::unlessCount($tokens), Thrown::unlessCount($leave, 2), true);
    }

    /** Asks one limit after the other, until one accepts; if none does, one in a dry run lets the call go on. */
    private function ask(string $method, int $cost, int $leave, bool $isPeek): Decision
    {
        $value = $this->value();
        $each = [];
        foreach ($value->parts as $i => $part) {
            $op = Op::take($cost, max($leave, $part->leave));
            $limit = $part->limit($method);
            $answer = $part->backend->decide($part->identifier, $limit, $isPeek ? $op->peek() : $op);
            $each[$i] = $part->decision($answer, $limit, $isPeek ? 0 : $cost);
            if ($answer?->isAccepted) {
                $value->charged = $answer->taken > 0 ? $i : $value->charged;
                return DecisionValue::decision([$each[$i]]);
            }
        }
        $soonest = 0;
        foreach ($each as $i => $decision) {
            if ($decision->isAdmitted()) {
                return DecisionValue::decision([$decision]);
            }
            $soonest = $decision->retryAfter() < $each[$soonest]->retryAfter() ? $i : $soonest;
        }
        return DecisionValue::decision([$each[$soonest]], $each);
    }

    public function refund(int $tokens = 1): bool
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        Thrown::unlessCount($tokens);
        $value = $this->value();
        return $value->charged !== null && $value->parts[$value->charged]->decide('refund', new Op(Op::REFUND, $tokens))->hasRefunded();
    }
}
