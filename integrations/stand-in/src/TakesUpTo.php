<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** For all single limiters but those of the calendar. */
trait TakesUpTo
{
    public function takeUpTo(int $most, int $least = 1, int $leave = 0): \TokenBucket\Decision
    {
        Thrown::unlessCount($most);
        if ($least < 1 || $least > max($most, 1)) {
            throw Thrown::value(2, 'must be between 1 and $most');
        }
        $leave = Thrown::unlessCount($leave, 3);
        $op = $most === 0 ? Op::take(0) : new Op(Op::TAKE_UP_TO, $most, $least);
        return DecisionValue::decision([$this->value(func_num_args(), 3)->decide('takeUpTo', $op, $leave)]);
    }
}
