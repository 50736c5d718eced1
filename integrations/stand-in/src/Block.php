<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * The block: denies every call on a bucket or a window until a time.
 *
 * It replaces the state of the algorithm. Calls meanwhile do not change it, and afterwards the limit starts afresh.
 */
final class Block
{
    /** Decides on a call that sets a block or meets one, under a limit of this capacity. Null if the algorithm decides. */
    public static function decide(array $state, int $now, Op $op, int $capacity): ?array
    {
        $end = $state[0] === State::BLOCKED && $state[1] > $now ? min($state[1], $now + Limit::MAX_REFILL) : null;
        if ($op->kind === Op::BLOCK) {
            // The later of two blocks counts.
            $until = max($end ?? $now, $now + min($op->time, Limit::MAX_REFILL));
            $answer = self::denial($until, $now, $op, $capacity);
            $answer->isAccepted = true;
            return [$answer, [State::BLOCKED, $until]];
        }
        if ($end === null || $op->kind === Op::RESET) {
            return null;
        }
        // A time from the future is brought down.
        $after = $op->kind === Op::PEEK ? $state : [State::BLOCKED, $end];
        return [self::denial($end, $now, $op, $capacity), $after];
    }

    /** A refund gives nothing back, so it is denied, too. */
    private static function denial(int $until, int $now, Op $op, int $capacity): Answer
    {
        $retryAt = $op->needs() > $capacity ? Answer::NEVER : $until;
        return new Answer(false, $now, $retryAt, $until, Answer::NOTHING, isBlocked: true);
    }
}
