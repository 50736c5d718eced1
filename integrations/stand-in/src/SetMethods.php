<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What Compound and FirstOf share. */
trait SetMethods
{
    use CarriesValue;

    public function reset(): void
    {
        $this->value(func_num_args())->changeEach('reset', static fn(): Op => new Op(Op::RESET));
    }

    public function block(float $seconds): void
    {
        try {
            $duration = Limit::duration($seconds);
        } catch (LimitError $e) {
            throw Thrown::value(1, $e->getMessage());
        }
        $this->value(func_num_args(), 1)->changeEach('block', static fn(): Op => new Op(Op::BLOCK, time: $duration));
        Mistake::warnOfMilliseconds('$seconds', $seconds);
    }
}
