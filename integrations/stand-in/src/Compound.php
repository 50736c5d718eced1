<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Several limits on one call: all of them are changed or none. */
final class Compound
{
    /**
     * Applies the operations to all limits if each of the enforced ones accepts, else to none.
     *
     * If the call is denied, the answers are those of a peek. A limit that is not charged keeps its state, but for times from the future.
     *
     * @param list<array{Limit, Op, bool}> $charges a limit, the operation, and whether its denial denies the call
     */
    public static function takeAll(array $charges, array $states, int $now): array
    {
        $isDenied = false;
        $each = [];
        foreach ($charges as $i => [$limit, $op, $isEnforced]) {
            $each[$i] = $limit->apply($states[$i], $now, $op);
            $isDenied = $isDenied || $isEnforced && !$each[$i][0]->isAccepted;
        }
        if (!$isDenied) {
            return $each;
        }
        foreach ($charges as $i => [$limit, $op]) {
            [, $corrected] = $limit->apply($states[$i], $now, Op::take(0));
            $each[$i] = [$limit->apply($states[$i], $now, $op->peek())[0], $corrected];
        }
        return $each;
    }
}
