<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** For buckets: hits of the future cannot be taken from a window. */
trait Reserves
{
    #[\NoDiscard]
    public function reserve(int $tokens = 1, ?float $maxWait = null): \TokenBucket\Decision
    {
        Thrown::unlessCount($tokens);
        if ($maxWait !== null && !($maxWait >= 0)) {
            throw Thrown::value(2, 'must be greater than or equal to 0');
        }
        $wait = $maxWait === null || $maxWait > 9e9 ? PHP_INT_MAX : (int) Limit::nearest($maxWait * 1e9);
        return DecisionValue::decision([$this->value(func_num_args(), 2)->decide('reserve', new Op(Op::RESERVE, $tokens, time: $wait))]);
    }
}
