<?php

declare(strict_types=1);

namespace TokenBucket\StandIn\Internal;

use TokenBucket\StandIn\Limit\Limit;
use TokenBucket\StandIn\Limit\LimitError;
use TokenBucket\StandIn\Limit\Op;

/** What Compound and FirstOf share. */
trait SetMethods
{
    use CarriesValue;

    public function reset(): void
    {
        func_num_args() > 0 && Thrown::tooMany(func_num_args());
        $this->value()->changeEach('reset', static fn(): Op => new Op(Op::RESET));
    }

    public function block(float $seconds): void
    {
        func_num_args() > 1 && Thrown::tooMany(func_num_args());
        try {
            $duration = Limit::duration($seconds);
        } catch (LimitError $e) {
            throw Thrown::value(1, $e->getMessage());
        }
        $this->value()->changeEach('block', static fn(): Op => new Op(Op::BLOCK, time: $duration));
        Mistake::warnOfMilliseconds('$seconds', $seconds);
    }
}
