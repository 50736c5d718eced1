<?php

declare(strict_types=1);

namespace TokenBucket\StandIn\Internal;

use TokenBucket\Decision;
use TokenBucket\StandIn\Limit\Op;

/** For all single limiters but those of the calendar. */
trait TakesUpTo
{
    public function takeUpTo(int $most, int $least = 1, int $leave = 0): Decision
    {
        func_num_args() > 3 && Thrown::tooMany(func_num_args());
        Thrown::unlessCount($most);
        if ($least < 1 || $least > max($most, 1)) {
            throw Thrown::value(2, 'must be between 1 and $most');
        }
        $leave = Thrown::unlessCount($leave, 3);
        $op = $most === 0 ? Op::take(0) : new Op(Op::TAKE_UP_TO, $most, $least);
        return DecisionValue::decision([$this->value()->decide('takeUpTo', $op, $leave)]);
    }
}
